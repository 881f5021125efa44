import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { generate } from '@graphql-codegen/cli'
import { afterAll, expect, test } from 'vitest'

const folder = await mkdtemp(join(import.meta.dirname, 'codegen-'))
afterAll(() => rm(folder, { recursive: true }))

/** An operation of a reader, with values of every kind of scalar. */
const OPERATION = `import { graphql } from './generated/gql.ts'
import type { UserQuery, UserQueryVariables } from './generated/graphql.ts'

export const document = graphql(\`query User($email: EmailAddress!) {
  userByEmail(email: $email) { email phoneNumber picture locale birthdate zoneinfo createdAt userMetadata }
}\`)
export const variables: UserQueryVariables = { email: 'ada@example.com' }
type User = NonNullable<UserQuery['userByEmail']>
export const user: User = {
  email: 'ada@example.com',
  phoneNumber: null,
  picture: 'https://example.com/ada.jpg',
  locale: 'de-AT',
  birthdate: '1985-12-10',
  zoneinfo: 'Europe/Vienna',
  createdAt: '2026-11-20T09:30:00.000Z',
  userMetadata: { newsletter: true },
}
// @ts-expect-error A number is not an address.
export const wrong: UserQueryVariables = { email: 1 }
`

test('the configuration of the documentation maps every scalar, and its types compile', async () => {
  const [, sample = ''] = /```ts\n(.*?)```/s.exec(await readFile('docs/api.md', 'utf8')) ?? []
  await writeFile(join(folder, 'config.ts'), sample)
  const { default: config } = await import(join(folder, 'config.ts'))
  await writeFile(join(folder, 'operation.ts'), OPERATION)
  const [{ config: options }] = Object.values<{ config: object }>(config.generates) as [{ config: object }]
  const files = await generate(
    {
      ...config,
      documents: [join(folder, 'operation.ts')],
      generates: {
        [`${folder}/generated/`]: {
          preset: 'client',
          config: { ...options, useTypeImports: true, importExtension: '.ts' },
        },
      },
    },
    false,
  )
  for (const { filename, content } of files) {
    await mkdir(dirname(filename), { recursive: true })
    await writeFile(filename, content)
  }
  const compiled = promisify(execFile)('node_modules/.bin/tsc', [
    ...['--noEmit', '--strict', '--skipLibCheck', '--ignoreConfig', '--allowImportingTsExtensions'],
    ...['--module', 'nodenext', '--target', 'es2024', join(folder, 'operation.ts')],
  ])
  await expect(compiled).resolves.toMatchObject({ stdout: '' })
}, 60_000)
