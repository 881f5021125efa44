import { describe, expect } from 'vitest'
import { USER_FIELDS } from '../../src/users/users.fields.ts'
import { createUser } from '../../src/users/users.ts'
import { ctxFor, newTenant, tokenFor } from '../support/actors.ts'
import { test as base } from '../support/graphql-test.ts'
import { recordStatements, recordWarmStatements } from '../support/statements.ts'

const DETAILED = {
  name: 'Ada',
  email: 'ada@example.com',
  emailVerified: true,
  address: { locality: 'London' },
  userMetadata: { shoe: 7 },
  appMetadata: { plan: 'gold' },
}
const FIELDS = [...USER_FIELDS, 'roles', '__typename'].map((field) =>
  field === 'address' ? 'address { locality }' : field,
)

/** Reads the first user of another tenant. */
const test = base.extend(
  'readNode',
  { scope: 'file' },
  ({ server }) =>
    async (at: string, selection: string, fragments = '') => {
      const { body } = await server.post(at, await tokenFor(at), `{ users { ${selection} } } ${fragments}`)
      expect(body.errors).toBeUndefined()
      return body.data.users.nodes[0]
    },
)

describe('a page of users', () => {
  test('takes one statement with its nested lists, and another one for totalSize', async ({
    tenant,
    token,
    server,
  }) => {
    const expectStatements = async (query: string, count: number) => {
      const post = () => server.post(tenant, token, query)
      const statements = await recordWarmStatements(post, post)
      expect(statements.length, statements.join('\n')).toBe(count)
    }
    await expectStatements('{ users { nodes { id name } } }', 1)
    await expectStatements('{ users { edges { cursor node { id } } totalSize } }', 2)
    await expectStatements('{ users(pageSize: 50) { nodes { id sessions(first: 5) { nodes { id } } } } }', 1)
    await expectStatements('{ users { edges { node { id sessions { edges { node { id } } } } } } }', 1)
  })
})

describe('the columns of a page of users', () => {
  test('are those of the selected fields, and each field has the same value alone as among all', async ({
    readNode,
  }) => {
    const at = await newTenant()
    await createUser(await ctxFor(at), DETAILED)
    const whole = await readNode(at, `nodes { ${FIELDS.join(' ')} }`)
    expect(whole).toMatchObject(DETAILED)
    for (const field of FIELDS) {
      const name = field.split(' ', 1)[0] as string
      expect(await readNode(at, `nodes { ${field} }`), name).toEqual({ [name]: whole[name] })
    }
    const statements = await recordStatements(() => readNode(at, 'nodes { name }'))
    expect(statements.join()).not.toContain('userMetadata')
  })

  test('include those selected through aliases, fragments, repeated selections and edges', async ({
    readNode,
  }) => {
    const at = await newTenant()
    await createUser(await ctxFor(at), DETAILED)
    const fragments =
      'fragment A on User { ...B ...B } fragment B on User { ... on Node { ... on User { email } } ...C } fragment C on User { locked }'
    expect(await readNode(at, 'nodes { called: name ...A } nodes { emailVerified }', fragments)).toEqual({
      called: 'Ada',
      email: 'ada@example.com',
      locked: false,
      emailVerified: true,
    })
    const rows = 'rows: nodes { name } edges { node { userMetadata } } nodes { email }'
    expect(await readNode(at, rows)).toEqual({ email: 'ada@example.com' })
  })
})
