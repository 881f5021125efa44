import { describe, expect } from 'vitest'
import { SESSION_FILTER, type SessionFilterMember } from '../../src/sessions/session-list.fields.ts'
import type { Json } from '../support/json.ts'
import { test as base, filterBy, ORDER_ENUM, toParameters } from '../support/session-list.ts'

/** With expectRejected: both surfaces reject a list with these issues. */
const test = base.extend(
  'expectRejected',
  { scope: 'file' },
  ({ listOverRest, listOverGraphql }) =>
    async (filter: object, more: string, variables: object, fields: object[]) => {
      const { status, body } = await listOverRest(toParameters(filter) + more)
      expect([status, body.fields]).toEqual([400, fields])
      expect((await listOverGraphql({ filter, ...variables })).errors?.[0]?.extensions).toMatchObject({
        code: 'BAD_USER_INPUT',
        fields,
      })
    },
)

describe('a list of sessions that cannot be answered', () => {
  const isListed = (a: SessionFilterMember, b: SessionFilterMember) => a === 'userId' || b === 'userId'
  const pairs = SESSION_FILTER.names.flatMap((a, index) =>
    SESSION_FILTER.names.slice(index + 1).flatMap((b) => (isListed(a, b) ? [] : [[a, b] as const])),
  )
  test.for(pairs)(
    'is rejected with %s and %s combined, by the name of the second',
    async ([a, b], { ada, clientId, organizationId, expectRejected }) => {
      const description = `cannot be combined with ${a}: userId combines with everything, other members cannot be combined`
      await expectRejected(filterBy([a, b], { ada, clientId, organizationId }), '', {}, [
        { field: b, description },
      ])
    },
  )

  test.for([
    ['clientId', 'createdAt', '; it is ordered by start'],
    ['ip', 'lastSeenAt', '; it is ordered by start'],
    ['createdAt', 'lastSeenAt', ', only createdAt'],
    ['lastSeenAt', 'createdAt', ', only lastSeenAt'],
  ] as const)(
    'is rejected when it is filtered by %s in the order of %s',
    async ([member, order, instead], { ada, clientId, organizationId, expectRejected }) => {
      const orderBy = { field: ORDER_ENUM[order] }
      await expectRejected(
        filterBy([member], { ada, clientId, organizationId }),
        `&orderBy=${order}`,
        { orderBy },
        [{ field: 'orderBy', description: `cannot be combined with ${member}${instead}` }],
      )
    },
  )

  test.for<[query: string, fields: string[]]>([
    ['userId=x', ['userId']],
    ['userId=client_01m7xeb1sbendby702xerkqv3p&clientId=x&ip=x', ['userId', 'clientId', 'ip']],
    ['ip=1.2.3&createdAt.gte=x&createdAt.gt=2026-01-01T00:00:00Z', ['createdAt.gt', 'ip', 'createdAt.gte']],
    ['ip=1.2.3&createdAt.gte=x', ['ip', 'createdAt.gte']],
    ['ip=', ['ip']],
    ['orderBy=userAgent&direction=up', ['orderBy', 'direction']],
    ['orderBy=tokenHash', ['orderBy']],
    ['page=-1&ip=1.2.3&orderBy=x&x=1', ['x', 'page', 'ip', 'orderBy']],
    ['ip=1.2.3&orderBy=x', ['ip', 'orderBy']],
    // Secret and internal columns cannot be read through a filter.
    ...['tokenHash', 'previousTokenHash', 'parentId', 'grantId', 'user.email'].map(
      (field): [string, string[]] => [`${field}=x`, [field]],
    ),
  ])(
    'is rejected over REST for ?%s with the names of the invalid parameters',
    async ([query, fields], { listOverRest }) => {
      const { status, body } = await listOverRest(query)
      expect([status, body.fields.map(({ field }: Json) => field)]).toEqual([400, fields])
    },
  )

  test('is rejected over GraphQL with every invalid field at once', async ({ gql }) => {
    const query = `{ sessions(pageSize: 5000, filter: { ip: "1.2.3", userId: "x" }) { totalSize } }`
    const { errors } = (await gql(query)).body
    const named = errors?.[0]?.extensions.fields.map(({ field }: Json) => field)
    expect(named).toEqual(['userId', 'ip', 'pageSize'])
  })
})
