import { readFileSync } from 'node:fs'
import { buildSchema, type GraphQLObjectType } from 'graphql'
import { expect, test } from 'vitest'
import { restRoutes } from '../../src/server/rest-routes.ts'
import { replaceBlock } from '../support/documents.ts'
import { listSources } from '../support/imports.ts'

const DOCUMENT = 'docs/stack.md'
const sources = new Map(listSources().map((file) => [file, readFileSync(file, 'utf8')]))
const all = [...sources.values()].join('\n')

const count = (pattern: RegExp, text = all): number => [...text.matchAll(pattern)].length

/** The files of src/ that import a module by its name or the end of its path, and those of them that import types only. */
function countImports(name: RegExp): string {
  const statement = new RegExp(
    `^import (type )?([^']*) from '${name.source}'|import\\('${name.source}'\\)`,
    'gm',
  )
  const importing = [...sources.values()].flatMap((text) => {
    const found = [...text.matchAll(statement)]
    const isTypeOnly = ([, type, members = '']: RegExpExecArray) =>
      type !== undefined || /^\{(\s*type \w+[^,]*,?)+\s*\}$/.test(members)
    return found.length > 0 ? [found.every(isTypeOnly)] : []
  })
  return `${importing.length} | ${importing.filter((isTypeOnly) => isTypeOnly).length}`
}

const schema = buildSchema(readFileSync('schema.graphql', 'utf8'))
const countFields = (type: GraphQLObjectType | null | undefined): number =>
  Object.keys(type?.getFields() ?? {}).length

const models = [...readFileSync('prisma/schema.prisma', 'utf8').matchAll(/^model (\w)(\w+)/gm)].map(
  ([, first, rest]) => `${first?.toLowerCase()}${rest}`,
)
const countCalls = (methods: string): number =>
  count(new RegExp(`\\.(?:${models.join('|')})\\s*\\.(?:${methods})\\w*\\(`, 'g'))
const statements = [...sources].filter(([file]) => file.endsWith('.sql.ts')).map(([, text]) => text)

const ROWS: [library: string, imports: string, uses: string][] = [
  ['graphql-yoga', countImports(/graphql-yoga/), `${count(/\bcreateYoga</g)} server`],
  [
    '@pothos/core',
    countImports(/@pothos\/core/),
    `${count(/new SchemaBuilder</g)} builder, ${countFields(schema.getQueryType())} queries, ${countFields(schema.getMutationType())} mutations, ${countFields(schema.getSubscriptionType())} subscriptions`,
  ],
  [
    '@pothos/plugin-prisma',
    countImports(/@pothos\/plugin-prisma/),
    `${count(/^(?!.*\*).*\.prismaObject\(/gm)} objects, ${count(/^(?!.*\*).*\.(?:prismaField|prismaObjectField|relation)\(/gm)} fields`,
  ],
  ['prisma', '– | –', `${models.length} models`],
  [
    '@prisma/client',
    countImports(/[./]*generated\/prisma\/client\.ts/),
    `${countCalls('find|count|aggregate|groupBy')} reads, ${countCalls('create|update|upsert|delete')} writes; beside ${count(/statement\([\s\S]*?\)`[\s\S]*?`/g, statements.join('\n'))} declared SQL statements`,
  ],
  [
    'dataloader',
    countImports(/dataloader/),
    `${count(/\bnew DataLoader\(/g)} kind, ${count(/\bloaders\s*\.(?:\w+\s*\.load|over)/g)} calls`,
  ],
  [
    'jose',
    countImports(/jose/),
    `${count(/\bjwtVerify\(/g)} verifications, ${count(/new SignJWT\(/g)} signature`,
  ],
  [
    'h3',
    countImports(/h3/),
    `${count(/new H3\(/g)} routers, ${count(/(?<!function )\badd(?:Read|Page|OAuth)?Route\((?!app, path, handlers)/g)} routes of pages and protocol, ${restRoutes.length} of REST`,
  ],
  ['ioredis', countImports(/ioredis/), 'if `REDIS_URL` is set'],
  ['graphql-ws', countImports(/graphql-ws/), `${count(/\bmakeServer</g)} server`],
  ['vitest', '– | –', 'every test'],
]

test(`${DOCUMENT} has the figures of the sources, which -u rewrites`, async () => {
  const table = [
    '| Library | Files of `src` that import it | for types only | Uses |',
    '|---|---|---|---|',
    ...ROWS.map(([library, imports, uses]) => `| ${library} | ${imports} | ${uses} |`),
  ].join('\n')
  const text = replaceBlock(readFileSync(DOCUMENT, 'utf8'), 'figures', table)
  await expect(text).toMatchFileSnapshot(`../../${DOCUMENT}`)
})
