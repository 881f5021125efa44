import { findRecord, isRecording } from '../core/requests/record.ts'
import { startSpan, toErrorType } from '../core/requests/spans.ts'
import { summarizeStatement } from './statement-summary.ts'

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
