// Power spectra of real signals, by a fast Fourier transform.

export class PowerSpectra {
  // `size` is the length of the window in samples, a power of two.
  constructor(size) {
    this.size = size;
    const angle = (i) => (2 * Math.PI * i) / size;
    this.window = Float64Array.from({ length: size }, (_, i) => 0.5 - 0.5 * Math.cos(angle(i))); // Hann's
    this.cosines = Float64Array.from({ length: size / 2 }, (_, i) => Math.cos(angle(i)));
    this.sines = Float64Array.from({ length: size / 2 }, (_, i) => -Math.sin(angle(i)));
    this.reversed = reversedBits(size);
    [this.real, this.imaginary] = [new Float64Array(size), new Float64Array(size)];
    this.powers = [new Float64Array(size / 2 + 1), new Float64Array(size / 2 + 1)];
  }

  // The powers of the windows that begin at two samples, so scaled that a sine of amplitude 1 has the power 1. A signal
  // is silent outside of its samples. One transform serves both windows: the signals are real, so one can be the
  // imaginary part.
  of(samples, first, second) {
    const { size, window, reversed, real, imaginary, powers } = this;
    const sampleAt = (at) => (at >= 0 && at < samples.length ? samples[at] : 0);
    for (let i = 0; i < size; i += 1) {
      const to = reversed[i];
      real[to] = window[i] * sampleAt(first + i);
      imaginary[to] = window[i] * sampleAt(second + i);
    }
    this.transform();
    const [powersOfFirst, powersOfSecond] = powers;
    const scale = 4 / size ** 2; // 1 / (half of the sum of the window)², and the halves below
    for (let k = 0; k <= size / 2; k += 1) {
      const mirror = (size - k) & (size - 1);
      const evenReal = real[k] + real[mirror];
      const oddReal = real[k] - real[mirror];
      const evenImaginary = imaginary[k] + imaginary[mirror];
      const oddImaginary = imaginary[k] - imaginary[mirror];
      powersOfFirst[k] = scale * (evenReal * evenReal + oddImaginary * oddImaginary);
      powersOfSecond[k] = scale * (evenImaginary * evenImaginary + oddReal * oddReal);
    }
    return powers;
  }

  // The transform in place, of values in the order of their reversed bits.
  transform() {
    const { size, cosines, sines, real, imaginary } = this;
    for (let half = 1; half < size; half *= 2) {
      const step = size / (2 * half);
      for (let j = 0; j < half; j += 1) {
        const cosine = cosines[j * step];
        const sine = sines[j * step];
        for (let a = j; a < size; a += 2 * half) {
          const b = a + half;
          const turnedReal = cosine * real[b] - sine * imaginary[b];
          const turnedImaginary = cosine * imaginary[b] + sine * real[b];
          real[b] = real[a] - turnedReal;
          imaginary[b] = imaginary[a] - turnedImaginary;
          real[a] += turnedReal;
          imaginary[a] += turnedImaginary;
        }
      }
    }
  }
}

function reversedBits(size) {
  const reversed = new Uint32Array(size);
  for (let i = 1; i < size; i += 1) reversed[i] = (reversed[i >> 1] >> 1) | (i & 1 ? size >> 1 : 0);
  return reversed;
}
