/** A record of a CSV file (RFC 4180), with the number of the line on which it begins. */
export type CsvRecord = { line: number; cells: string[] }

/** Records up to some place of a text, and where the rest begins. */
export type CsvPart = { records: CsvRecord[]; consumed: number; nextLine: number }

const DELIMITERS = [',', ';', '\t'] as const

/** The delimiter of a file: the one that its first line has most of. Spreadsheets use that of their language. */
export function findDelimiter(text: string): string {
  const [head = ''] = text.split(/[\r\n]/, 1)
  const count = (delimiter: string) => head.split(delimiter).length
  return DELIMITERS.reduce((best, each) => (count(each) > count(best) ? each : best))
}

/** The end of a cell without quotation marks. */
function findCellEnd(text: string, start: number, delimiter: string): number {
  for (let at = start; at < text.length; at++) {
    const char = text[at]
    if (char === delimiter || char === '\n' || char === '\r') return at
  }
  return text.length
}

/** Reads a record; null when the text may end in the middle of it. */
function readRecord(
  text: string,
  start: number,
  delimiter: string,
  isLast: boolean,
): { cells: string[]; end: number } | null {
  const cells: string[] = []
  for (let at = start; ; at++) {
    let cell = ''
    if (text[at] === '"')
      for (at++; ; at++) {
        const quote = text.indexOf('"', at)
        // A quotation mark at the end may be the first of two.
        if ((quote === -1 || quote + 1 === text.length) && !isLast) return null
        cell += text.slice(at, quote === -1 ? text.length : quote)
        at = quote === -1 ? text.length : quote + 1
        if (text[at] !== '"') break
        cell += '"'
      }
    const end = findCellEnd(text, at, delimiter)
    // A carriage return at the end may be the first half of a line break.
    if (!isLast && (end === text.length || (text[end] === '\r' && end + 1 === text.length))) return null
    cells.push(cell + text.slice(at, end))
    at = end
    if (text[end] !== delimiter)
      return { cells, end: Math.min(end + (text.startsWith('\r\n', end) ? 2 : 1), text.length) }
  }
}

/**
 * Reads the records of a text that begins at the start of one. Those whose cells are all blank, such as empty lines at the
 * end, are counted and left out. With `isLast`, the file ends with the text.
 */
export function parseCsv(
  text: string,
  { delimiter, line, isLast, limit }: { delimiter: string; line: number; isLast: boolean; limit: number },
): CsvPart {
  const part: CsvPart = { records: [], consumed: 0, nextLine: line }
  while (part.consumed < text.length && part.records.length < limit) {
    const record = readRecord(text, part.consumed, delimiter, isLast)
    if (!record) break
    const { cells, end } = record
    if (cells.some((cell) => cell.trim() !== '')) part.records.push({ line: part.nextLine, cells })
    part.nextLine += text.slice(part.consumed, end).match(/\r\n|\r|\n/g)?.length ?? 0
    part.consumed = end
  }
  return part
}
