import { LRUCache } from 'lru-cache'
import { findRecord, isRecording } from '../core/requests/record.ts'
import { startSpan, toErrorType } from '../core/requests/spans.ts'

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
function summarizeStatement(text: string): string {
  let summary = summaries.get(text)
  if (summary === undefined) {
    summary = summarize(text)
    summaries.set(text, summary)
  }
  return summary
}

/** Whether anything asks for statements. */
export const observesStatements = isRecording

async function observe<Result>(text: string, sent: Promise<Result>): Promise<Result> {
  const start = performance.now()
  const record = findRecord()
  const name = summarizeStatement(text)
  const span =
    record?.span &&
    startSpan({ name, kind: 'client', facts: { 'db.system.name': 'postgresql', 'db.query.summary': name } })
  if (record) record.statements += 1
  let error: string | undefined
  try {
    return await sent
  } catch (thrown) {
    error = toErrorType(thrown)
    throw thrown
  } finally {
    span?.end(undefined, error)
    if (record) record.databaseMs += performance.now() - start
  }
}

/**
 * Notes a statement that was sent, with the request that it is for: its name, and the time until its answer, the wait for a
 * connection included. Costs one comparison when nothing asks for it.
 */
export const observed = <Result>(text: string, sent: Promise<Result>): Promise<Result> =>
  observesStatements ? observe(text, sent) : sent
