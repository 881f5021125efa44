import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'

/** One reference of a file to another file, with the line that contains it. */
export type Reference = { from: string; line: number; to: string }

/** The files of the repository: tracked, or new and not ignored. */
export const listFiles = (): string[] =>
  execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8' })
    .split('\n')
    .filter((file) => file !== '' && existsSync(file))

/** Replaces blocks of code by spaces, so that lines and positions stay the same. */
const withoutBlocks = (text: string): string =>
  text.replace(/^( *)(```|~~~)[\s\S]*?^\1\2 *$/gm, (block) => block.replace(/[^\n]/g, ' '))

/** Replaces code by spaces, so that a link in it is not read. */
const withoutCode = (text: string): string =>
  withoutBlocks(text).replace(/`[^`\n]*`/g, (code) => ' '.repeat(code.length))

const toLine = (text: string, index: number): number => text.slice(0, index).split('\n').length

/** The relative links and image sources of a Markdown text. Links with a scheme are not read. */
export function readLinks(from: string, text: string): Reference[] {
  const prose = withoutCode(text)
  const patterns = [
    /\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g,
    /^\s*\[[^\]]+\]:\s*<?(\S+?)>?\s*$/gm,
    /\b(?:href|src)="([^"]+)"/g,
  ]
  return patterns
    .flatMap((pattern) => [...prose.matchAll(pattern)])
    .map((match) => ({ from, line: toLine(prose, match.index), to: match[1] as string }))
    .filter(({ to }) => !/^[a-z][a-z0-9+.-]*:/i.test(to))
}

/** The anchors of a Markdown text, as GitHub derives them from headings, and explicit ones. */
export function readAnchors(text: string): Set<string> {
  const anchors = new Set<string>()
  for (const [, heading = ''] of text
    .replace(/^(```|~~~)[\s\S]*?^\1/gm, '')
    .matchAll(/^#{1,6} +(.+?) *#*$/gm)) {
    const slug = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
      .replaceAll(' ', '-')
    let anchor = slug
    for (let n = 1; anchors.has(anchor); n++) anchor = `${slug}-${n}`
    anchors.add(anchor)
  }
  for (const [, name = ''] of text.matchAll(/<a (?:id|name)="([^"]+)"/g)) anchors.add(name)
  return anchors
}

/** References to `docs/…` and to Markdown files in a source text. */
export const readDocumentReferences = (from: string, text: string): Reference[] =>
  [...text.matchAll(/(?<![\w./-])docs\/[\w./-]*\w(?:#[\w-]+)?/g)].map((match) => ({
    from,
    line: toLine(text, match.index),
    to: `/${match[0]}`,
  }))

export type Reader = (file: string) => string | null

/** Reads a file; null when it does not exist. */
export const readRepositoryFile: Reader = (file) =>
  existsSync(file) ? (/\.md$/.test(file) ? readFileSync(file, 'utf8') : '') : null

/**
 * The references whose file or anchor does not exist, each as a line. A target with a leading `/` starts at
 * the root.
 */
export function findBroken(references: readonly Reference[], read: Reader = readRepositoryFile): string[] {
  return references.flatMap(({ from, line, to }) => {
    const [path = '', anchor] = decodeURI(to).split('#')
    const file =
      path === '' ? from : path.startsWith('/') ? path.slice(1) : posix.join(posix.dirname(from), path)
    const text = read(posix.normalize(file).replace(/\/$/, ''))
    if (text === null) return [`${from}:${line} refers to ${to}, which does not exist`]
    if (anchor && !readAnchors(text).has(anchor))
      return [`${from}:${line} refers to ${to}, which has no such heading`]
    return []
  })
}

/** The test files that the tables of a Markdown text name in their last column. */
export const readTestColumn = (from: string, text: string): Reference[] =>
  text.split('\n').flatMap((line, index) =>
    line.startsWith('|')
      ? [...(line.split('|').at(-2) ?? '').matchAll(/`(test\/[^`]+)`/g)].map(([, file = '']) => ({
          from,
          line: index + 1,
          to: `/${file}`,
        }))
      : [],
  )

/** Files that a reader writes or a program creates. */
const OTHER_FILES = ['sign-in.mjs', 'sv.json', 'operator.json', 'demo.json']
const FILE_NAME = /(^|\/)(schema\.prisma|[\w-][\w.-]*\.(tsx?|mjs|sql|md|json|ya?ml|svg))$/

/**
 * The files and folders that the code spans of a Markdown text name, each by the end of its path: names with the
 * extension of a file, and paths that begin with one of `folders`.
 */
export const readPathNames = (from: string, text: string, folders: ReadonlySet<string>): Reference[] =>
  [...withoutBlocks(text).matchAll(/`([\w.-]+(?:\/[\w.-]+)*)\/?`/g)]
    .map((match) => ({ from, line: toLine(text, match.index), to: match[1] as string }))
    .filter(({ to }) => FILE_NAME.test(to) || (to.includes('/') && folders.has(to.split('/')[0] as string)))
    .filter(({ to }) => !OTHER_FILES.includes(to) && !to.startsWith('src/generated/'))

/** The names in camel case that the code spans of a Markdown text contain: functions, members, types. */
export const readIdentifiers = (from: string, text: string): Reference[] =>
  [...withoutBlocks(text).matchAll(/`[^`\n]+`/g)].flatMap((span) =>
    [...span[0].matchAll(/\b[a-z]+[A-Z]\w*/g)].map(([to]) => ({ from, line: toLine(text, span.index), to })),
  )

/** Replaces the text between `<!-- name -->` and `<!-- /name -->`, which a test computes. */
export function replaceBlock(text: string, name: string, content: string): string {
  const [start, end] = [`<!-- ${name} -->\n`, `<!-- /${name} -->`]
  const [before, rest = ''] = text.split(start)
  const after = rest.slice(rest.indexOf(end))
  return `${before}${start}\n${content}\n\n${after}`
}
