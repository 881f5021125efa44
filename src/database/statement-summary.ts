import { LRUCache } from 'lru-cache'

/** Changes before reads: a statement that does both is named by what it changes. Prisma writes the name of the schema. */
const CHANGE = /\b(INSERT INTO|UPDATE|DELETE FROM)\s+(?:"public"\.)?"(\w{1,40})"/
const READ = /\bFROM\s+(?:"public"\.)?"(\w{1,40})"/
const OTHER = /^\s*([A-Z]{3,12})/

const summaries = new LRUCache<string, string>({
  max: 1000,
  maxSize: 2_000_000,
  sizeCalculation: (_, text) => text.length || 1,
})

function summarize(text: string): string {
  const [, change, changed] = CHANGE.exec(text) ?? []
  if (change) return `${change.split(' ', 1)[0]} ${changed}`
  const [, table] = READ.exec(text) ?? []
  return table ? `SELECT ${table}` : (OTHER.exec(text)?.[1] ?? 'other')
}

/**
 * The name of a statement for people, such as `SELECT User`: its verb and its first table. There are as many as the
 * program has tables and verbs: texts of statements have no value.
 */
export function summarizeStatement(text: string): string {
  let summary = summaries.get(text)
  if (summary === undefined) {
    summary = summarize(text)
    summaries.set(text, summary)
  }
  return summary
}
