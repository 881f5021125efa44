import { readdirSync, readFileSync } from 'node:fs'

/** A sample of a document, as printed. */
export type Sample = {
  file: string
  line: number
  /** The language of the fenced block, `inline` for a command and `rest` for a call in a sentence. */
  language: string
  text: string
}

/** The documents with samples for readers. Those of docs/quickstarts are examples, which `npm run examples` runs. */
export const listDocuments = (): string[] => {
  const docs = readdirSync('docs', { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.md') && !name.startsWith('quickstarts/'),
  )
  return ['README.md', 'CONTRIBUTING.md', ...docs.map((name) => `docs/${name}`).sort()]
}

const FENCED = /^ *```(\w*)\n(.*?)\n *```$/gms
/** A command in a sentence. */
const COMMAND = /`((?:npx )?(?:vestibule|node dist\/cli\.js) [^`]+)`/g
/** A call in a sentence, such as: send `PATCH /settings` with `{…}`. */
const CALL = /\bsend\s+`([A-Z]+ \/[^`]+)`\s+with\s+`(\{[^`]*\})`/g

/** The samples of a document in the order of the page. */
export function readSamples(file: string, text = readFileSync(file, 'utf8')): Sample[] {
  const lineAt = (index: number): number => text.slice(0, index).split('\n').length
  const fenced = [...text.matchAll(FENCED)].map(({ index, 1: language = '', 2: body = '' }) => ({
    file,
    line: lineAt(index),
    language,
    text: body,
  }))
  const prose = text
    .replace(FENCED, (block) => block.replace(/[^\n]/g, ' '))
    .replace(/^\|.*$/gm, (row) => ' '.repeat(row.length))
  const commands = [...prose.matchAll(COMMAND)].map(({ index, 1: command = '' }) => ({
    file,
    line: lineAt(index),
    language: 'inline',
    text: command,
  }))
  const calls = [...prose.matchAll(CALL)].map(({ index, 1: call = '', 2: body = '' }) => ({
    file,
    line: lineAt(index),
    language: 'rest',
    text: `${call} ${body}`,
  }))
  return [...fenced, ...commands, ...calls].sort((a, b) => a.line - b.line)
}
