import { InvalidInput } from '../../core/errors.ts'

/** Longer than any user of an export. */
const MAX_RECORD_CHARS = 1_048_576

const reject = (description: string) => new InvalidInput([{ field: 'file', description }])

/** Whether a character of JSON opens or closes a list or an object, outside of texts. */
const OPENING = ['{', '[']
const CLOSING = ['}', ']']

/**
 * The objects of a JSON document, one after the other, without the rest of it: those of a list or of lines, or, with
 * `member`, those of the list with that name in the outermost object. The document may have any length. Throws
 * InvalidInput.
 */
export async function* readJsonRecords(
  texts: AsyncIterable<string>,
  member: string | undefined,
  maxChars = MAX_RECORD_CHARS,
): AsyncGenerator<unknown> {
  /** What is open, outermost first. */
  const open: string[] = []
  let record: string | null = null
  let isText = false
  let isEscaped = false
  /** The text that was read last in the outermost object, and the name of the member whose value is read. */
  let text = ''
  let name = ''
  const isStart = (char: string): boolean => {
    if (char !== '{' || record !== null) return false
    if (open.length === 0) return member === undefined
    if (open.length === 1) return open[0] === '['
    return open.length === 2 && open[0] === '{' && open[1] === '[' && name === member
  }
  let depth = 0
  for await (const chunk of texts)
    for (const char of chunk) {
      if (isStart(char)) {
        record = ''
        depth = open.length
      }
      if (record !== null) record += char
      if (isText) {
        if (!isEscaped && char === '"') isText = false
        else if (open.length === 1) text += char
        isEscaped = !isEscaped && char === '\\'
      } else if (char === '"') {
        isText = true
        text = ''
      } else if (char === ':' && open.length === 1) name = text
      else if (OPENING.includes(char)) open.push(char)
      else if (CLOSING.includes(char)) {
        open.pop()
        if (record !== null && open.length === depth) {
          yield parseRecord(record)
          record = null
        }
      }
      if (record !== null && record.length > maxChars)
        throw reject(`has a record of more than ${maxChars} characters`)
    }
  if (open.length > 0) throw reject('is not complete JSON')
}

function parseRecord(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw reject('is not valid JSON')
  }
}
