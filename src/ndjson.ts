import { isUtf8 } from 'node:buffer'

/** Media type of lines of JSON. */
export const NDJSON = 'application/x-ndjson'

/** A line of a stream with its number, from 1. `fault` says why it is no text. */
export type Line =
  | { number: number; text: string; fault?: undefined }
  | { number: number; text?: undefined; fault: string }

const NEWLINE = 10

/** A line as text; null when it is blank. A byte order mark belongs to the file, not to its first line. */
function toLine(number: number, bytes: Buffer): Line | null {
  if (!isUtf8(bytes)) return { number, fault: 'is not UTF-8' }
  const text = bytes.toString('utf8')
  const content = number === 1 ? text.replace(/^\uFEFF/, '') : text
  return content.trim() === '' ? null : { number, text: content }
}

/**
 * Cuts a stream of bytes into numbered lines: as many at once as each chunk completes. Blank lines count but do not
 * appear; of lines before `startLine` nothing is kept, nor of one with more than `maxBytes`, which comes as a fault.
 * A last line needs no newline. Holds one line and one chunk.
 */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
  { maxBytes, startLine = 1 }: { maxBytes: number; startLine?: number },
): AsyncGenerator<Line[]> {
  let number = 1
  let kept: Buffer[] = []
  let size = 0
  const take = (part: Buffer) => {
    size += part.length
    if (size > maxBytes) kept = []
    else if (number >= startLine && part.length > 0) kept.push(part)
  }
  const finish = (): Line | null => {
    const line =
      number < startLine
        ? null
        : size > maxBytes
          ? { number, fault: `has more than ${maxBytes} bytes` }
          : toLine(number, kept.length === 1 ? (kept[0] as Buffer) : Buffer.concat(kept))
    number++
    kept = []
    size = 0
    return line
  }
  for await (const bytes of chunks) {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    const lines: Line[] = []
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      take(chunk.subarray(start, end))
      const line = finish()
      if (line) lines.push(line)
      start = end + 1
    }
    take(chunk.subarray(start))
    if (lines.length > 0) yield lines
  }
  const last = size > 0 ? finish() : null
  if (last) yield [last]
}
