import type { ObjectRef } from '@pothos/core'
import { spreadOverTurns } from '../core/turns.ts'
import { DEFAULT_PAGE_SIZE, type Page, type PageArgs } from '../schema/page.ts'
import { builder, type GraphQLTypes } from './builder.ts'
import { withPublicAccess } from './field-access.ts'
import { COUNT_COST, type ListComplexity } from './limits/count-cost.ts'

type PageInfoFields = {
  hasNextPage: boolean
  hasPreviousPage: boolean
  endsEarly: boolean
  startCursor: string | null
  endCursor: string | null
}

export const PageInfo = builder.objectRef<PageInfoFields>('PageInfo').implement({
  ...withPublicAccess('Information about a page of a list.'),
  fields: (t) => ({
    hasNextPage: t.exposeBoolean('hasNextPage', { description: 'True when rows follow the page.' }),
    hasPreviousPage: t.exposeBoolean('hasPreviousPage', { description: 'True when rows precede the page.' }),
    endsEarly: t.exposeBoolean('endsEarly', {
      description:
        'True when the page has fewer rows than asked for because of their size; `after: endCursor` continues.',
    }),
    startCursor: t.exposeString('startCursor', {
      nullable: true,
      description: 'Cursor of the first row, for `before`.',
    }),
    endCursor: t.exposeString('endCursor', {
      nullable: true,
      description: 'Cursor of the last row, for `after`.',
    }),
  }),
})

/**
 * The information about a page. A cursor is signed: it is computed where it is selected. The accessors are those of a
 * class, because V8 keeps the accessors of a literal, and with them its page, until a collection of the whole heap.
 */
class PageInfoOf<Row> implements PageInfoFields {
  readonly #page: Page<Row>
  readonly hasNextPage: boolean
  readonly hasPreviousPage: boolean
  readonly endsEarly: boolean

  constructor(page: Page<Row>) {
    this.#page = page
    this.hasNextPage = page.hasNextPage
    this.hasPreviousPage = page.hasPreviousPage
    this.endsEarly = page.endsEarly
  }

  get startCursor(): string | null {
    return this.#encodeCursor(this.#page.rows.at(0))
  }

  get endCursor(): string | null {
    return this.#encodeCursor(this.#page.rows.at(-1))
  }

  #encodeCursor(row: Row | undefined): string | null {
    return row === undefined ? null : this.#page.encodeRowCursor(row)
  }
}

type Edge<Row> = { cursor: string; node: Row }

const edgeTypes = new Map<string, unknown>()

const defineEdgeType = <Row>(name: string, node: ObjectRef<GraphQLTypes, Row>) =>
  builder.objectRef<Edge<Row>>(`${name}Edge`).implement({
    ...withPublicAccess(`An edge of ${name}Connection.`),
    fields: (t) => ({
      cursor: t.exposeString('cursor', { description: 'Cursor of the row in this list.' }),
      node: t.field({ type: node, description: 'The row.', resolve: (edge) => edge.node as never }),
    }),
  })

/** The type `${name}Edge` of a node type, of connections and of payloads. */
export function getEdgeType<Row>(node: ObjectRef<GraphQLTypes, Row>): ReturnType<typeof defineEdgeType<Row>> {
  const { name } = node
  const type = edgeTypes.get(name) ?? defineEdgeType(name, node)
  edgeTypes.set(name, type)
  return type as ReturnType<typeof defineEdgeType<Row>>
}

/**
 * Declares the types `${name}Connection` and `${name}Edge` of a node type (Relay Cursor Connections). Fields
 * resolve to the `Page<Row>` of a service.
 */
export function defineConnectionType<Row>(name: string, node: ObjectRef<GraphQLTypes, Row>) {
  // The multiplier of the list already counts the rows.
  const singleFieldCost = { field: 1, multiplier: 1 }
  return builder.objectRef<Page<Row>>(`${name}Connection`).implement({
    ...withPublicAccess(`A page of a list of ${name}.`),
    fields: (t) => ({
      edges: t.field({
        type: [getEdgeType(node)],
        complexity: singleFieldCost,
        description: 'The rows of the page, each with its cursor.',
        resolve: (page, _args, { ctx }) =>
          spreadOverTurns(
            ctx,
            page.rows.map((row) => ({ cursor: page.encodeRowCursor(row), node: row })),
          ),
      }),
      nodes: t.field({
        type: [node],
        complexity: singleFieldCost,
        description: 'The rows of the page.',
        resolve: (page, _args, { ctx }) => spreadOverTurns(ctx, page.rows) as never,
      }),
      pageInfo: t.field({
        type: PageInfo,
        description: 'Page information.',
        resolve: (page) => new PageInfoOf(page),
      }),
      totalSize: t.int({
        description: 'Number of rows of the list; counted only when selected.',
        resolve: (page) => page.countAll(),
      }),
      page: t.exposeInt('page', {
        nullable: true,
        description: 'Page number, from 0; null when paging by cursor.',
      }),
      pageSize: t.exposeInt('pageSize', { description: 'Maximum number of rows of a page.' }),
    }),
  })
}

/** The connection type of rows. */
export type ConnectionOf<Row> = ReturnType<typeof defineConnectionType<Row>>

/** Arguments of a list with cursors only. */
export const CURSOR_ARGS = builder.args((t) => ({
  first: t.int({ description: 'Maximum number of rows from the start, or after `after`; 1 to 1000.' }),
  after: t.string({ description: 'Only rows after this cursor.' }),
  last: t.int({ description: 'Maximum number of rows from the end, or before `before`; 1 to 1000.' }),
  before: t.string({ description: 'Only rows before this cursor.' }),
}))

/** Arguments of a root list: `page` and `pageSize`, or cursors; both together are BAD_USER_INPUT. */
export const PAGE_ARGS = {
  ...builder.args((t) => ({
    page: t.int({ description: 'Page number, from 0. Not together with cursors.' }),
    pageSize: t.int({ description: 'Rows per page, 1 to 1000; 50 by default.' }),
  })),
  ...CURSOR_ARGS,
}

/** Arguments of a nested list. */
export const NESTED_PAGE_ARGS = builder.args((t) => ({
  first: t.int({ description: 'Maximum number of rows, 1 to 1000; 50 by default.' }),
  after: t.string({ description: 'Only rows after this cursor.' }),
}))

/**
 * Options of a field that returns a page: type, nullability and complexity. Spread them into the field's
 * options. `getCountCost` is the cost of its totalSize.
 */
export const connectionField = <Connection>(
  connection: Connection,
  getCountCost: (args: { filter?: object | null }) => number = () => COUNT_COST.scan,
) => ({
  type: connection,
  nullable: true as const,
  complexity: (args: PageArgs & { filter?: object | null }): ListComplexity => ({
    field: 1,
    multiplier: args.first ?? args.last ?? args.pageSize ?? DEFAULT_PAGE_SIZE,
    count: getCountCost(args),
  }),
})

/** Options of a field with a list that is nested in an object. */
export const nestedConnectionField = <Connection>(connection: Connection) =>
  connectionField(connection, () => COUNT_COST.nested)
