import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort, type ServerProcess, startServer } from '../support/process.ts'
import { SampleReader } from '../support/sample-reader.ts'
import { FILES, GIVEN, NOT_RUN, SENT } from '../support/sample-table.ts'
import { listDocuments, readSamples, type Sample } from '../support/samples.ts'
import { hasServices } from '../support/services.ts'

const documents = listDocuments()
const pages = documents.filter((file) => readSamples(file).length > 0)
const isMissing = (command: string) => spawnSync(command, ['--version']).error !== undefined
const canRun = hasServices && (process.env.CI === 'true' || !['bash', 'curl'].some(isMissing))

let server: ServerProcess
let env: Record<string, string | undefined>
if (canRun)
  beforeAll(async () => {
    const { DATA_DIR, ENCRYPTION_KEY, DATABASE_URL, REDIS_URL, REDIS_PREFIX } = process.env
    env = {
      DATA_DIR,
      ENCRYPTION_KEY,
      DATABASE_URL,
      REDIS_URL,
      REDIS_PREFIX,
      DEMO: '1',
      PORT: String(await freePort()),
    }
    server = await startServer(env)
  }, 90_000)
afterAll(() => server?.kill())

/** The lines of a sample that are run. */
function readRunLines({ file, language, text }: Sample): string {
  const notRun = NOT_RUN[file] ?? {}
  const lines = text.split('\n')
  if (language === 'sh') return lines.filter((line) => !(line in notRun)).join('\n')
  return (lines[0] ?? '') in notRun ? '' : text
}

/** Puts values of this run into a sample. Throws if it leaves anything open. */
async function fillIn(reader: SampleReader, sample: Sample): Promise<string> {
  let text = reader.withOrigins(readRunLines(sample))
  for (const [printed, give] of Object.entries(GIVEN[sample.file] ?? {}))
    if (text.includes(printed)) text = text.replaceAll(printed, await give(reader))
  if (text.includes('…')) throw new Error('leaves something open that no table gives')
  return text
}

async function runSample(reader: SampleReader, sample: Sample): Promise<void> {
  const text = await fillIn(reader, sample)
  if (/^(#.*|\s*)*$/.test(text)) return
  const { file, language } = sample
  if (language === 'sh' || language === 'inline') return reader.runShell(text)
  if (language === 'graphql') return reader.runGraphql(text)
  if (language === 'js') return reader.runModule(text, 'ada@demo.example')
  if (language === 'rest') {
    const [, method = '', path = '', body = ''] = /^(\S+) (\S+) (.*)$/s.exec(text) ?? []
    return void (await reader.rest(method, path, JSON.parse(body)))
  }
  if (language !== 'json') throw new Error(`is neither run nor listed: ${language}`)
  const [, send] = Object.entries(SENT[file] ?? {}).find(([start]) => text.startsWith(start)) ?? []
  const body = JSON.parse(text)
  await (send ? send(reader, body) : reader.rest('PATCH', '/settings', body))
}

describe.skipIf(!canRun)('every sample, as printed and in the order of the page, works', () => {
  /** Pages that name no tenant of the demo are about tenant acme, which each finds anew. */
  const isAboutDemo = (file: string) => ['README.md', 'docs/api.md', 'docs/graphql.md'].includes(file)

  test.for(pages)('in %s', { timeout: 120_000 }, async (file) => {
    const samples = readSamples(file)
    const tenant = isAboutDemo(file) ? 'demo' : 'acme'
    const isMadeByPage = samples.some(({ text }) => text.includes('tenant create acme'))
    const reader = await SampleReader.start(server, env, tenant)
    if (tenant === 'acme' && !isMadeByPage) await reader.restAsOperator('POST', '/tenants', { slug: tenant })
    const failures: string[] = []
    try {
      for (const [name, text] of Object.entries(FILES[file] ?? {})) await reader.write(name, text)
      for (const sample of samples)
        await runSample(reader, sample).catch((error: Error) => {
          failures.push(`${file}:${sample.line} ${error.message}`)
        })
    } finally {
      await reader.close()
      if (tenant === 'acme') await reader.restAsOperator('DELETE', `/tenants/${tenant}`)
    }
    expect(failures).toEqual([])
  })
})

describe('the tables of samples', () => {
  test.for([
    ['that are not run', NOT_RUN, (line: string, { text }: Sample) => text.split('\n').includes(line)],
    ['with values of a run', GIVEN, (printed: string, { text }: Sample) => text.includes(printed)],
    ['that read files', FILES, (name: string, { text }: Sample) => text.includes(name)],
    ['that are sent', SENT, (start: string, { text }: Sample) => text.startsWith(start)],
  ] as const)('name only samples %s', ([, table, isFound]) => {
    const stale = Object.entries(table).flatMap(([file, entries]) =>
      Object.keys(entries).filter(
        (entry) => !documents.includes(file) || !readSamples(file).some((sample) => isFound(entry, sample)),
      ),
    )
    expect(stale).toEqual([])
  })

  test('refer to tests that exist', () => {
    const reasons = Object.values(NOT_RUN).flatMap((entries) => Object.values(entries))
    const files = reasons.flatMap((reason) => reason.match(/test\/\S+\.ts/g) ?? [])
    expect(files.filter((file) => !existsSync(file))).toEqual([])
  })
})
