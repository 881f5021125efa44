import { isUtf8 } from 'node:buffer'

/** Media type of newline-delimited JSON. */
export const NDJSON = 'application/x-ndjson'

/** A line of a stream with its number, from 1. `error` says why it has no text. */
export type NdjsonLine =
  | { number: number; text: string; error?: undefined }
  | { number: number; text?: undefined; error: string }

const NEWLINE = 10

/** Decodes a line; null when it is blank. A byte order mark at the start of the file is removed. */
function parseLine(number: number, bytes: Buffer): NdjsonLine | null {
  if (!isUtf8(bytes)) return { number, error: 'is not UTF-8' }
  const text = bytes.toString('utf8')
  const content = number === 1 ? text.replace(/^\uFEFF/, '') : text
  return content.trim() === '' ? null : { number, text: content }
}

/**
 * Splits a stream of bytes into numbered lines and yields the lines that each chunk completes. Blank lines
 * are counted but not yielded. Lines before `startLine` are skipped. A line of more than `maxBytes` is
 * yielded with an error. The last line needs no newline. Buffers one line and one chunk.
 */
export async function* readNdjsonLines(
  chunks: AsyncIterable<Uint8Array>,
  { maxBytes, startLine = 1 }: { maxBytes: number; startLine?: number },
): AsyncGenerator<NdjsonLine[]> {
  let number = 1
  let kept: Buffer[] = []
  let size = 0
  const appendPart = (part: Buffer) => {
    size += part.length
    if (size > maxBytes) kept = []
    else if (number >= startLine && part.length > 0) kept.push(part)
  }
  const finishLine = (): NdjsonLine | null => {
    const line =
      number < startLine
        ? null
        : size > maxBytes
          ? { number, error: `has more than ${maxBytes} bytes` }
          : parseLine(number, kept.length === 1 ? (kept[0] as Buffer) : Buffer.concat(kept))
    number++
    kept = []
    size = 0
    return line
  }
  for await (const bytes of chunks) {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    const lines: NdjsonLine[] = []
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      appendPart(chunk.subarray(start, end))
      const line = finishLine()
      if (line) lines.push(line)
      start = end + 1
    }
    appendPart(chunk.subarray(start))
    if (lines.length > 0) yield lines
  }
  const last = size > 0 ? finishLine() : null
  if (last) yield [last]
}
