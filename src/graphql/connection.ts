import type { ObjectRef } from '@pothos/core'
import { queryFromInfo } from '@pothos/plugin-prisma'
import { type FieldNode, type GraphQLResolveInfo, Kind, type SelectionSetNode } from 'graphql'
import { DEFAULT_PAGE_SIZE, type Page, type PageArgs, parsePaging, toPage } from '../page.ts'
import { builder, type GraphQLTypes } from './builder.ts'
import type { GraphQLContext } from './context.ts'
import { open } from './scoped.ts'

type PageInfoShape = {
  hasNextPage: boolean
  hasPreviousPage: boolean
  startCursor: string | null
  endCursor: string | null
}

export const PageInfo = builder.objectRef<PageInfoShape>('PageInfo').implement({
  ...open('Where a page stands in its list.'),
  fields: (t) => ({
    hasNextPage: t.exposeBoolean('hasNextPage', { description: 'Whether rows follow the page.' }),
    hasPreviousPage: t.exposeBoolean('hasPreviousPage', { description: 'Whether rows precede the page.' }),
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

function pageInfoOf<Row>(page: Page<Row>): PageInfoShape {
  const [first, last] = [page.rows.at(0), page.rows.at(-1)]
  return {
    hasNextPage: page.hasNextPage,
    hasPreviousPage: page.hasPreviousPage,
    startCursor: first === undefined ? null : page.cursorOf(first),
    endCursor: last === undefined ? null : page.cursorOf(last),
  }
}

/** The two paths on which the rows of a connection are selected. */
const NODE_PATHS = [['nodes'], ['edges', 'node']]

/** Declares XConnection and XEdge around a type; fields resolve to the `Page<Row>` that services return. */
export function connectionType<Row>(name: string, node: ObjectRef<GraphQLTypes, Row>) {
  const Edge = builder.objectRef<{ cursor: string; node: Row }>(`${name}Edge`).implement({
    ...open(`One row of a ${name}Connection.`),
    fields: (t) => ({
      cursor: t.exposeString('cursor', { description: 'Opaque position of the row in this list.' }),
      node: t.field({ type: node, description: 'The row.', resolve: (edge) => edge.node as never }),
    }),
  })
  // The rows were paid for by the list's own multiplier.
  const once = { field: 1, multiplier: 1 }
  return builder.objectRef<Page<Row>>(`${name}Connection`).implement({
    ...open(`A page of a list of ${name}.`),
    fields: (t) => ({
      edges: t.field({
        type: [Edge],
        complexity: once,
        description: 'The rows of the page, each with its cursor.',
        resolve: (page) => page.rows.map((row) => ({ cursor: page.cursorOf(row), node: row })),
      }),
      nodes: t.field({
        type: [node],
        complexity: once,
        description: 'The rows of the page.',
        resolve: (page) => page.rows as never,
      }),
      pageInfo: t.field({
        type: PageInfo,
        description: 'What precedes and follows the page.',
        resolve: pageInfoOf,
      }),
      totalSize: t.int({
        description: 'How many rows the list has. Counted only when selected.',
        resolve: (page) => page.countAll(),
      }),
      page: t.exposeInt('page', {
        nullable: true,
        description: 'Number of the page, from 0; null when paging by cursor.',
      }),
      pageSize: t.exposeInt('pageSize', { description: 'How many rows a page has at most.' }),
    }),
  })
}

/** Arguments of a list that is read by cursor alone. */
export const CURSOR_ARGS = builder.args((t) => ({
  first: t.int({ description: 'At most this many rows from the start, or after `after`; 1 to 1000.' }),
  after: t.string({ description: 'Only rows after the one with this cursor.' }),
  last: t.int({ description: 'At most this many rows from the end, or before `before`; 1 to 1000.' }),
  before: t.string({ description: 'Only rows before the one with this cursor.' }),
}))

/** Arguments of a root list: `page` and `pageSize`, or a cursor direction; both is BAD_USER_INPUT. */
export const PAGE_ARGS = {
  ...builder.args((t) => ({
    page: t.int({ description: 'Number of the page, from 0. Not together with cursors.' }),
    pageSize: t.int({ description: 'Rows per page, 1 to 1000; 50 when omitted.' }),
  })),
  ...CURSOR_ARGS,
}

/** Arguments of a list inside an object. */
export const NESTED_PAGE_ARGS = builder.args((t) => ({
  first: t.int({ description: 'At most this many rows; 1 to 1000, 50 when omitted.' }),
  after: t.string({ description: 'Only rows after the one with this cursor.' }),
}))

/** Type, nullability and cost of a field that returns a page: spread it into the options. */
export const listOf = <Connection>(connection: Connection) => ({
  type: connection,
  nullable: true as const,
  complexity: (args: PageArgs) => ({
    field: 1,
    multiplier: args.first ?? args.last ?? args.pageSize ?? DEFAULT_PAGE_SIZE,
  }),
})

/** What Prisma must read for the rows of a list, from what was selected below `nodes` and `edges.node`. */
export const nodeQuery = (typeName: string, context: GraphQLContext, info: GraphQLResolveInfo) =>
  queryFromInfo({ context, info, typeName, paths: NODE_PATHS })

/** The fields of a selection, those inside fragments too; `seen` fragments are read once. */
function fieldsOf(
  info: GraphQLResolveInfo,
  set: SelectionSetNode | undefined,
  seen: Set<string>,
): FieldNode[] {
  return (set?.selections ?? []).flatMap((node) => {
    if (node.kind === Kind.FIELD) return [node]
    if (node.kind === Kind.INLINE_FRAGMENT) return fieldsOf(info, node.selectionSet, seen)
    if (seen.has(node.name.value)) return []
    seen.add(node.name.value)
    return fieldsOf(info, info.fragments[node.name.value]?.selectionSet, seen)
  })
}

/** Names of the fields that were selected of the rows of a list; possibly more, as no directive is looked at. */
export function nodeFields(info: GraphQLResolveInfo): Set<string> {
  const below = (parents: readonly FieldNode[]): FieldNode[] => {
    const seen = new Set<string>()
    return parents.flatMap((parent) => fieldsOf(info, parent.selectionSet, seen))
  }
  const rows = NODE_PATHS.flatMap((path) =>
    path.reduce<readonly FieldNode[]>(
      (parents, name) => below(parents).filter((field) => field.name.value === name),
      info.fieldNodes,
    ),
  )
  return new Set(below(rows).map((field) => field.name.value))
}

const nestedPaging = (args: PageArgs, { ctx }: GraphQLContext, list: string) =>
  parsePaging({ first: args.first ?? DEFAULT_PAGE_SIZE, after: args.after }, `${ctx.tenant}:${list}`)

/** What reads one page of a nested list, in order of id, as part of the parent's statement. */
export function nestedQuery<Where extends object>(
  args: PageArgs,
  context: GraphQLContext,
  list: string,
  where: Where,
) {
  const paging = nestedPaging(args, context, list)
  const seek = paging.mode === 'cursor' ? paging.seek : null
  return {
    take: paging.pageSize + 1,
    orderBy: { id: 'asc' as const },
    where: seek ? { ...where, id: { gt: seek.id } } : where,
  }
}

/**
 * Adds to such a query what was selected of the rows, which `key` tells apart in their list. `nested` is the third parameter
 * of a field's `select`.
 */
export function withNodes<Query extends object>(
  nested: unknown,
  typeName: string,
  query: Query,
  key = 'id',
): Query {
  // Pothos takes several paths where it plans its own connections, but types its public function for one.
  const select = nested as (
    query: Query,
    include: { getType: () => string; paths: { name: string }[][] },
  ) => Query
  const paths = NODE_PATHS.map((path) => path.map((name) => ({ name })))
  const selected: Query & { select?: object } = select(query, { getType: () => typeName, paths })
  // Where no row is asked for, only totalSize or pageInfo, nothing is selected of the rows, which Prisma refuses.
  return selected.select && Object.keys(selected.select).length === 0
    ? { ...selected, select: { [key]: true } }
    : selected
}

/** The page out of the rows that were read so. */
export const nestedPage = <Row extends { id: string }>(
  args: PageArgs,
  context: GraphQLContext,
  list: string,
  rows: Row[],
  countAll: () => Promise<number>,
): Page<Row> =>
  toPage(nestedPaging(args, context, list), rows, {
    name: `${context.ctx.tenant}:${list}`,
    keyOf: (row) => ({ value: null, id: row.id }),
    countAll,
  })
