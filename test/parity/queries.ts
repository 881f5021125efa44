import type { Json } from '../support/json.ts'
import { GONE, type Gql } from './call.ts'
import { listFields } from './compare.ts'
import { UNKNOWN } from './fixture.ts'

/** Reads the answer of a deletion. */
export const readGone = (): string => GONE
/** A selection of every field of a type. */
export const select = (type: string): string => `{ __typename ${listFields(type)} }`
/** An id that no object has. */
export const unknownId = (kind: string): string => `${kind}_${UNKNOWN}`

type Query = Extract<Gql, { query: string }>

/** A query for one object by an argument; its variable is `id`. */
export const objectQuery = (field: string, type: string, variable: string, argument = 'id'): Query => ({
  query: `query($id: ${variable}!) { result: ${field}(${argument}: $id) ${select(type)} }`,
  read: (data: Json) => data.result,
})

/** What a page has besides its rows, and how REST returns it. */
export const PAGE = 'page pageSize totalSize pageInfo { endsEarly }'
export const readPage =
  (name: string) =>
  ({ result: { nodes, pageInfo, ...page } }: Json) => ({ ...page, ...pageInfo, [name]: nodes })

/** A query for a page of a list by offset; `name` is the member of the REST body. */
export const pageQuery =
  (field: string, type: string, name: string) =>
  (page: object): Query => ({
    query: `query($page: Int, $pageSize: Int) { result: ${field}(page: $page, pageSize: $pageSize) { ${PAGE} nodes ${select(type)} } }`,
    variables: page,
    read: readPage(name),
  })

/** A query for a list of a user. */
export const userListQuery =
  (field: string, type: string, name: string) =>
  (userId: string): Query => ({
    query: `query($id: ID!) { user(id: $id) { list: ${field}(first: 50) { pageSize totalSize pageInfo { endsEarly } nodes ${select(type)} } } }`,
    variables: { id: userId },
    read: ({ user }: Json) =>
      user && {
        page: 0,
        pageSize: user.list.pageSize,
        totalSize: user.list.totalSize,
        endsEarly: user.list.pageInfo.endsEarly,
        [name]: user.list.nodes,
      },
  })
