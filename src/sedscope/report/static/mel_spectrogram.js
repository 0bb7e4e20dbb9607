// Mel spectrograms. sedscope.plots.mel_spectrogram computes the same numbers.

import { PowerSpectra } from "./spectrum.js";

export const MEL_BANDS = 96;
const WINDOW_SECONDS = 0.046;
const MOST_SPECTRA = 4; // of a column; a column that is longer than their windows skips some of the signal
const LEAST_POWER = 1e-12;

// The levels of a stretch of a signal in decibels, by column and then by band. A column is the largest of up to four
// spectra, evenly spread over its time. A sine of amplitude 1 has about 0 dB in its band.
export function melSpectrogram(samples, rate, start, end, columns) {
  const size = windowSize(rate);
  const spectra = new PowerSpectra(size);
  const bands = melBands(rate, size);
  const width = (end - start) / columns;
  const number = Math.min(MOST_SPECTRA, Math.max(1, Math.ceil((width * rate) / size)));
  const first = (spectrum) => Math.floor((start + ((spectrum + 0.5) * width) / number) * rate + 0.5) - size / 2;
  const levels = new Float32Array(columns * MEL_BANDS).fill(LEAST_POWER);
  for (let spectrum = 0; spectrum < columns * number; spectrum += 2) {
    spectra.of(samples, first(spectrum), first(spectrum + 1)).forEach((powers, i) => {
      const column = Math.floor((spectrum + i) / number);
      if (column < columns) raise(levels, column * MEL_BANDS, powers, bands);
    });
  }
  return levels.map((power) => 10 * Math.log10(power));
}

// Raises the levels of a column to the powers of a spectrum, where these are larger.
function raise(levels, offset, powers, bands) {
  for (let band = 0; band < bands.length; band += 1) {
    const { first, weights } = bands[band];
    let sum = 0;
    for (let i = 0; i < weights.length; i += 1) sum += weights[i] * powers[first + i];
    if (sum > levels[offset + band]) levels[offset + band] = sum;
  }
}

// A power of two near 46 ms.
function windowSize(rate) {
  return 2 ** Math.round(Math.log2(WINDOW_SECONDS * rate));
}

// The bands up to half of the sample rate, evenly spaced in mel. The weights of a band form a triangle that reaches to
// the neighbours of its centre, and at least to the next bins. Their sum is 1.
function melBands(rate, size) {
  const bin = rate / size;
  const frequency = (band) => fromMel((mel(rate / 2) * (band + 1)) / (MEL_BANDS + 1));
  return Array.from({ length: MEL_BANDS }, (_, band) => {
    const centre = frequency(band);
    const low = Math.min(frequency(band - 1), centre - bin);
    const high = Math.max(frequency(band + 1), centre + bin);
    const first = Math.max(0, Math.ceil(low / bin));
    const last = Math.min(size / 2, Math.floor(high / bin));
    const weights = Float64Array.from({ length: last - first + 1 }, (_, i) => {
      const at = (first + i) * bin;
      return Math.max(0, Math.min((at - low) / (centre - low), (high - at) / (high - centre)));
    });
    const sum = weights.reduce((total, weight) => total + weight, 0);
    return { first, weights: weights.map((weight) => weight / sum) };
  });
}

function mel(hertz) {
  return 2595 * Math.log10(1 + hertz / 700);
}

function fromMel(mels) {
  return 700 * (10 ** (mels / 2595) - 1);
}

// Where a frequency lies in a picture of all bands: 0 is its lower edge and 1 its upper one.
export function melPosition(hertz, rate) {
  return ((mel(hertz) / mel(rate / 2)) * (MEL_BANDS + 1) - 0.5) / MEL_BANDS;
}
