import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { InvalidInput } from '../../src/core/errors.ts'
import { parseQuery } from '../../src/rest/query.ts'
import { DoneShape, defineRestRoute } from '../../src/rest/route.ts'

describe('a filter in a query', () => {
  const range = z.strictObject({ gte: z.iso.datetime().optional(), lt: z.iso.datetime().optional() })
  const Filter = z.strictObject({
    text: z.string().optional(),
    locked: z.boolean().nullish(),
    size: z.number().optional(),
    types: z.array(z.string()).nullish(),
    createdAt: range.nullish(),
    metadata: z.record(z.string(), z.unknown()).optional(),
    folded: z.preprocess((value) => value, z.boolean()).optional(),
    trimmed: z
      .string()
      .transform((value) => value.trim())
      .optional(),
  })
  const route = defineRestRoute({
    method: 'GET',
    path: '/things',
    operationId: 'listThings',
    summary: 'Things.',
    scope: 'users:read',
    paged: true,
    query: z.object({ orderBy: z.string().optional() }),
    response: DoneShape,
    filter: Filter,
    handle: async () => ({}),
  })
  const read = (query: string) => parseQuery(route, new URLSearchParams(query))
  const readIssues = (query: string) => {
    try {
      return read(query)
    } catch (error) {
      if (error instanceof InvalidInput) return error.fields.map(({ field }) => field)
      throw error
    }
  }

  test('is written as parameters: dots for members, commas for lists, JSON scalars in records', () => {
    expect(
      read(
        'text=a,b&locked=false&folded=true&size=-1.5&types=a,b&createdAt.gte=2026-01-01T00:00:00Z&createdAt.lt=x' +
          '&metadata.plan=pro&metadata.seats=5&metadata.ok=true&metadata.none=null&metadata.quoted="5"' +
          '&metadata.a.b=[1]&metadata.empty=&trimmed= x &orderBy=text&page=1',
      ),
    ).toEqual({
      query: { orderBy: 'text' },
      paging: { page: 1, pageSize: undefined },
      filter: {
        text: 'a,b',
        locked: false,
        folded: true,
        size: -1.5,
        types: ['a', 'b'],
        createdAt: { gte: '2026-01-01T00:00:00Z', lt: 'x' },
        metadata: { plan: 'pro', seats: 5, ok: true, none: null, quoted: '5', 'a.b': '[1]', empty: '' },
        trimmed: ' x ',
      },
    })
  })

  test('cannot set a prototype', () => {
    const { filter } = read('metadata.__proto__=1')
    expect(Object.getOwnPropertyNames(filter.metadata)).toEqual(['__proto__'])
    expect(Object.getPrototypeOf(filter.metadata)).toBe(Object.prototype)
  })

  test.each([
    ['locked=yes&folded=1&size=1e3', ['locked', 'folded', 'size']],
    ['locked=&size=', ['locked', 'size']],
    ['text=a&text=a', ['text']],
    ['createdAt=2026-01-01T00:00:00Z', ['createdAt']],
    ['createdAt.gt=x', ['createdAt.gt']],
    ['createdAt.gte.x=x', ['createdAt.gte.x']],
    ['metadata=x', ['metadata']],
    ['metadata.=x', ['metadata.']],
    ['filter.text=x&text.x=1&.text=1&text.=1', ['filter.text', 'text.x', '.text', 'text.']],
    ['__proto__.text=1&constructor=1&toString=1', ['__proto__.text', 'constructor', 'toString']],
    ['unknown=1&locked=x&pageSize=0&after=x&page=1', ['unknown', 'pageSize', 'page', 'locked']],
  ])('is rejected with the names of the parameters: %s', (query, fields) => {
    expect([...(readIssues(query) as string[])].sort()).toEqual([...fields].sort())
  })
})
