import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'

/**
 * One import statement of a file of `src/`, types included: `to` is another file, or the name of a library.
 */
export type ImportEdge = { from: string; line: number; to: string }

const SPECIFIER = /(?:\bfrom|\bimport|\bimport\()\s*'([^']+)'/g

/** Every TypeScript file of `src/` that is written by hand. */
export const listSources = (): string[] =>
  readdirSync('src', { recursive: true })
    .map((name) => `src/${name}`)
    .filter((file) => /\.tsx?$/.test(file) && !file.startsWith('src/generated/'))
    .sort()

/** Every import of those files, in the order in which they appear. */
export function readImports(files: readonly string[]): ImportEdge[] {
  return files.flatMap((from) => {
    const text = readFileSync(from, 'utf8')
    return [...text.matchAll(SPECIFIER)].map((match) => ({
      from,
      line: text.slice(0, match.index).split('\n').length,
      to: toTarget(from, match[1] as string),
    }))
  })
}

const toTarget = (from: string, specifier: string): string =>
  specifier.startsWith('.') ? posix.normalize(posix.join(posix.dirname(from), specifier)) : specifier

/** The strongly connected groups of more than one file: each is a cycle of imports (Tarjan). */
export function findCycles(edges: readonly ImportEdge[]): string[][] {
  const targets = new Map<string, string[]>()
  for (const { from, to } of edges) targets.set(from, [...(targets.get(from) ?? []), to])
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const stack: string[] = []
  const cycles: string[][] = []
  const visit = (file: string): void => {
    order.set(file, order.size)
    lowest.set(file, order.get(file) as number)
    stack.push(file)
    for (const next of targets.get(file) ?? []) {
      if (!order.has(next)) visit(next)
      if (stack.includes(next))
        lowest.set(file, Math.min(lowest.get(file) as number, lowest.get(next) as number))
    }
    if (lowest.get(file) !== order.get(file)) return
    const group = stack.splice(stack.indexOf(file))
    if (group.length > 1) cycles.push(group)
  }
  for (const file of targets.keys()) if (!order.has(file)) visit(file)
  return cycles
}
