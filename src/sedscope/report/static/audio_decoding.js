// Embedded audio as samples.

const USUAL_RATE = 44100;

// The samples of a `data:` URL, as the mean of all channels, and how many there are per second. The browser decodes
// them. It would resample them to another rate, so the rate is read from the file.
export async function decodeAudio(url) {
  const bytes = bytesOf(url);
  const rate = statedRate(bytes) ?? USUAL_RATE;
  const buffer = await new OfflineAudioContext(1, 1, rate).decodeAudioData(bytes.buffer);
  const samples = buffer.getChannelData(0);
  for (let channel = 1; channel < buffer.numberOfChannels; channel += 1)
    buffer.getChannelData(channel).forEach((sample, i) => { samples[i] += sample; });
  if (buffer.numberOfChannels > 1) samples.forEach((sum, i) => { samples[i] = sum / buffer.numberOfChannels; });
  return { samples, rate };
}

function bytesOf(url) {
  const text = atob(url.slice(url.indexOf(",") + 1));
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
  return bytes;
}

// The sample rate in the header of a WAV or FLAC file, and null for other files.
function statedRate(bytes) {
  const view = new DataView(bytes.buffer);
  const name = (at) => String.fromCharCode(...bytes.subarray(at, at + 4));
  if (name(0) === "fLaC") return view.getUint32(18) >>> 12;
  if (name(8) !== "WAVE") return null;
  for (let at = 12; at + 16 <= bytes.length;) {
    if (name(at) === "fmt ") return view.getUint32(at + 12, true);
    const size = view.getUint32(at + 4, true);
    at += 8 + size + (size % 2);
  }
  return null;
}
