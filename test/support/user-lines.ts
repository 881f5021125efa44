import type { Ctx } from '../../src/context/context.ts'
import { exportUsers } from '../../src/users/transfer/export.ts'
import { importUsers } from '../../src/users/transfer/import.ts'
import type { Json } from './json.ts'

/** A user as a line of an import or export. */
export const userLine = (n: number) => ({
  externalId: `crm-${n}`,
  email: `p${n}@example.com`,
  name: `Person ${n}`,
})
export const userLines = (count: number, from = 1) =>
  Array.from({ length: count }, (_, i) => userLine(from + i))

/** Lines of JSON; a string is used unchanged. */
export const toNdjson = (lines: readonly (object | string)[]): string =>
  lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('')

export async function* toChunks(text: string | Buffer, size = 1000): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

/** Everything that an import or an export yields. */
export async function collect(results: AsyncIterable<object[]>): Promise<Json[]> {
  const collected: Json[] = []
  for await (const some of results) collected.push(...some)
  return collected
}

/** Imports lines; returns a result for each and the summary. */
export const importLines = (
  ctx: Ctx,
  lines: readonly (object | string)[],
  options: object = {},
): Promise<Json[]> => collect(importUsers(ctx, toChunks(toNdjson(lines)), options))

export const exportAll = (ctx: Ctx): Promise<Json[]> => collect(exportUsers(ctx))

/** The status of each line, without the summary. */
export const toStatuses = (results: Json[]): string[] => results.slice(0, -1).map(({ status }) => status)
