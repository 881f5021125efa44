import { describe, expect, test as plain } from 'vitest'
import type { Ctx } from '../../src/context/context.ts'
import { setUserRoles } from '../../src/users/roles.ts'
import { findDelimiter, parseCsv } from '../../src/users/transfer/csv.ts'
import { guessField } from '../../src/users/transfer/csv-columns.ts'
import { importUsersFromCsv } from '../../src/users/transfer/import-csv.ts'
import { createUser, getUserByEmail } from '../../src/users/users.ts'
import { ctxFor } from '../support/actors.ts'
import type { Json } from '../support/json.ts'
import { test } from '../support/tenant-per-test.ts'
import { collect, importLines, toChunks, userLine } from '../support/user-lines.ts'

const importFile = (ctx: Ctx, file: string | Buffer, options: object = {}): Promise<Json[]> =>
  collect(importUsersFromCsv(ctx, toChunks(file, 7), options))

const countUsers = ({ db }: Ctx): Promise<number> => db.prisma.user.count({ where: { tenantId: db.tenant } })

describe('parseCsv', () => {
  const FILE = 'a;b\r\n"x;1";"say ""hi"""\r\n\r\n"two\r\nlines";\n;;\n"last"'
  const RECORDS = [
    { line: 1, cells: ['a', 'b'] },
    { line: 2, cells: ['x;1', 'say "hi"'] },
    { line: 4, cells: ['two\r\nlines', ''] },
    { line: 7, cells: ['last'] },
  ]

  plain('reads quoted cells, any line breaks and lines without a cell, wherever the text is cut', () => {
    for (let cut = 0; cut <= FILE.length; cut++) {
      const options = { delimiter: findDelimiter(FILE), limit: 100 }
      const first = parseCsv(FILE.slice(0, cut), { ...options, line: 1, isLast: false })
      const rest = FILE.slice(first.consumed)
      const last = parseCsv(rest, { ...options, line: first.nextLine, isLast: true })
      expect([...first.records, ...last.records]).toEqual(RECORDS)
      expect(first.consumed + last.consumed).toBe(FILE.length)
    }
  })

  plain.for([
    ['E-Mail', 'email'],
    ['First name', 'givenName'],
    ['Nachname', 'familyName'],
    ['Straße', 'address.streetAddress'],
    ['Postal code', 'address.postalCode'],
    ['phoneNumber', 'phoneNumber'],
    ['appMetadata.plan', 'appMetadata.plan'],
    ['Abteilung', null],
  ] as const)('guesses the field of the column %s: %s', ([name, field]) => {
    expect(guessField(name)).toBe(field)
  })
})

describe('an import of CSV', () => {
  test('takes a file of a spreadsheet, and names line, column and reason of each error', async ({ ctx }) => {
    await createUser(ctx, { email: 'known@example.com', name: 'Known' })
    const file = [
      '\uFEFFE-Mail;Vorname;Nachname;Telefon;Abteilung;Gesperrt;Ort;appMetadata.plan',
      "ada@example.com;Ada;Lovelace;'+436641234567;R&D;nein;Wien;pro",
      'no address;Bob;;;;;;',
      '"Known@example.com";"Two\nlines";;;;;;',
      'ADA@example.com;Other;;;;;;',
      'cleo@example.com;Cleo;;;;vielleicht;;',
      'dora@example.com;Dora;;;;;;;surplus',
      ';;;;;;;',
      '',
    ].join('\r\n')
    const columns = 'email,givenName,familyName,phoneNumber,-,locked,address.locality,appMetadata.plan'
    const dry = await importFile(ctx, file, { columns, dryRun: true })
    expect(await countUsers(ctx)).toBe(1)
    expect(dry).toMatchObject([
      { line: 2, status: 'created' },
      { line: 3, status: 'error', fields: [{ field: 'email', column: 'E-Mail' }] },
      { line: 4, status: 'updated' },
      { line: 6, status: 'error', fields: [{ column: 'E-Mail', description: 'is that of line 2' }] },
      { line: 7, status: 'error', fields: [{ column: 'Gesperrt', description: 'must be true or false' }] },
      { line: 8, status: 'error', fields: [{ description: 'has 9 cells, and the first line 8' }] },
      { summary: { created: 1, updated: 1, failed: 4 } },
    ])
    const written = await importFile(ctx, file, { columns })
    expect(written.map(({ userId: _, ...result }) => result)).toEqual(
      dry.map(({ userId: _, ...result }) => result),
    )
    expect(await getUserByEmail(ctx, 'ada@example.com')).toMatchObject({
      givenName: 'Ada',
      phoneNumber: '+436641234567',
      locked: false,
      addressLocality: 'Wien',
      appMetadata: { plan: 'pro' },
    })
    expect(await getUserByEmail(ctx, 'known@example.com')).toMatchObject({
      name: 'Known',
      givenName: 'Two\nlines',
    })
  })

  test('rejects bytes of another encoding, and takes them with its name', async ({ ctx }) => {
    const file = Buffer.from('email,name\nada@example.com,Zo\u00eb\n', 'latin1')
    await expect(importFile(ctx, file)).rejects.toThrow(/invalid fields/)
    expect(await importFile(ctx, file, { charset: 'windows-1252' })).toMatchObject([
      { status: 'created' },
      {},
    ])
    expect((await getUserByEmail(ctx, 'ada@example.com')).name).toBe('Zoë')
  })

  test.for([
    ['email,Abteilung\na@example.com,x\n', {}, /Abteilung/],
    ['email,name\na@example.com,x\n', { columns: 'email' }, /2 fields/],
    ['email,name\na@example.com,x\n', { columns: 'email,roles' }, /roles/],
    ['email,mail\na@example.com,x\n', {}, /twice/],
    ['email,name\n"a@example.com,x\n'.padEnd(270_000, 'x'), {}, /quotation mark/],
  ] as const)(
    'rejects a header or a file that cannot be meant: %#',
    async ([file, options, reason], { ctx }) => {
      const error = await collect(importUsersFromCsv(ctx, toChunks(file, 65_536), options)).catch(
        (thrown) => thrown,
      )
      expect(error.fields[0].description).toMatch(reason)
      expect(await countUsers(ctx)).toBe(0)
    },
  )

  test('is read once more with each eighth that a record without an end grows by', async ({ ctx }) => {
    const file = `email,name\na@example.com,${'x'.repeat(200_000)}`
    const before = process.cpuUsage()
    const results = await collect(importUsersFromCsv(ctx, toChunks(file, 1), { dryRun: true }))
    expect(results[0]).toMatchObject({ status: 'error', line: 2 })
    const { user, system } = process.cpuUsage(before)
    // With each character, the record would be read 200,000 times: 20 thousand million characters.
    expect((user + system) / 1e6).toBeLessThan(8)
  })

  test('is read in parts over GraphQL, each with the keys of its lines', async ({ ctx, gql }) => {
    const header = await gql(
      'query ($csv: String!) { csvHeader(csv: $csv) { delimiter consumed nextLine columns { name field samples } } }',
      { csv: '\uFEFFMail\tName\nada@example.com\tAda\nbob@exa' },
    )
    expect(header.body.data.csvHeader).toEqual({
      delimiter: '\t',
      consumed: 11,
      nextLine: 2,
      columns: [
        { name: 'Mail', field: 'email', samples: ['ada@example.com'] },
        { name: 'Name', field: 'name', samples: ['Ada'] },
      ],
    })
    const mutation = `mutation ($input: ImportCsvInput!) { importCsv(input: $input) { __typename
      ... on ImportCsvPayload { consumed nextLine results { line status userId message issues { field description } cells keys } } } }`
    const part = { delimiter: '\t', columns: ['email', 'name'], line: 2 }
    const csv = 'Ada@example.com\tAda\nnobody\tN\nbob@exa'
    const run = async (input: object) =>
      (await gql(mutation, { input: { ...part, ...input } })).body.data.importCsv
    expect(await run({ csv, dryRun: true, exceptLines: [9] })).toMatchObject({
      consumed: 29,
      nextLine: 4,
      results: [
        {
          line: 2,
          status: 'CREATED',
          userId: null,
          cells: ['Ada@example.com', 'Ada'],
          keys: ['emailKey:ada@example.com'],
        },
        { line: 3, status: 'ERROR', cells: ['nobody', 'N'], issues: [{ field: 'email' }], keys: [] },
      ],
    })
    expect(await countUsers(ctx)).toBe(0)
    expect(await run({ csv, exceptLines: [3] })).toMatchObject({ results: [{ line: 2, status: 'CREATED' }] })
    expect(await run({ csv: 'bob@exa' })).toMatchObject({ __typename: 'ValidationError' })
    expect(await countUsers(ctx)).toBe(1)
  })
})

test('a dry run has the results of the import, and writes no row and no event', async ({ ctx, events }) => {
  await importLines(ctx, [userLine(1), userLine(2), userLine(3)])
  const admin = await createUser(ctx, { email: 'admin@example.com' })
  await setUserRoles(ctx, admin.id, { roles: ['admin'] })
  const writer = { ...ctx, scopes: (await ctxFor(ctx.tenant, ['users:write'])).scopes }
  const lines = [
    { ...userLine(1), name: 'Other' },
    userLine(2),
    userLine(4),
    { externalId: 'crm-3', email: 'p2@example.com' },
    { email: 'p3@example.com', locked: true },
    { email: 'admin@example.com', locked: true },
    '{',
  ]
  const before = [await countUsers(ctx), (await events()).length]
  const dry = await importLines(writer, lines, { dryRun: true })
  expect([await countUsers(ctx), (await events()).length]).toEqual(before)
  const written = await importLines(writer, lines)
  const toOutcome = ({ line, status, code, summary }: Json) => ({ line, status, code, summary })
  expect(dry.map(toOutcome)).toEqual(written.map(toOutcome))
  expect(dry.map(({ code }) => code)).toContain('FORBIDDEN')
  expect(dry[2]).toEqual({ line: 3, status: 'created' })
})
