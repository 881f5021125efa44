import { AUTH0 } from '../sources/auth0.ts'
import { CLERK } from '../sources/clerk.ts'
import { COGNITO } from '../sources/cognito.ts'
import { FIREBASE } from '../sources/firebase.ts'
import { readJsonRecords } from '../sources/json-records.ts'
import { KEYCLOAK } from '../sources/keycloak.ts'
import { OKTA } from '../sources/okta.ts'
import type { Source, SourceConfig, SourceRecord } from '../sources/source.ts'
import { SUPABASE } from '../sources/supabase.ts'
import { decodeChunks, readRecords } from './import-csv.ts'

/** The systems whose exports can be imported. */
const SOURCES: Record<string, Source> = {
  auth0: AUTH0,
  keycloak: KEYCLOAK,
  firebase: FIREBASE,
  cognito: COGNITO,
  clerk: CLERK,
  okta: OKTA,
  supabase: SUPABASE,
}
export const SOURCE_NAMES = Object.keys(SOURCES)

/** The records of a CSV file, whose first line names the members. */
async function* readCsvRecords(texts: AsyncIterable<string>): AsyncGenerator<SourceRecord> {
  let names: string[] | null = null
  for await (const records of readRecords(texts))
    for (const { cells } of records)
      if (names === null) names = cells.map((cell) => cell.trim())
      else yield Object.fromEntries(names.map((name, index) => [name, cells[index]]))
}

/**
 * Converts an export of another system to the lines of an import, in their order: the line of an import is that of the
 * record. Throws InvalidInput.
 */
export async function* convertExport(
  chunks: AsyncIterable<Uint8Array>,
  { from, isCsv, config }: { from: string; isCsv: boolean; config: SourceConfig },
): AsyncGenerator<Uint8Array> {
  const source = SOURCES[from]
  if (!source) throw new Error(`there is no source ${from}`)
  const texts = decodeChunks(chunks, 'utf-8')
  const records = isCsv ? readCsvRecords(texts) : readJsonRecords(texts, source.member)
  for await (const record of records)
    yield Buffer.from(`${JSON.stringify(source.toLine(record as SourceRecord, config))}\n`)
}
