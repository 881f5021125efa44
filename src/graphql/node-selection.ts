import { queryFromInfo } from '@pothos/plugin-prisma'
import { type FieldNode, type GraphQLResolveInfo, Kind, type SelectionSetNode } from 'graphql'
import { DEFAULT_PAGE_SIZE, type Page, type PageArgs, parsePaging, toPage } from '../schema/page.ts'
import type { GraphQLContext } from './context.ts'

/** The two paths on which the rows of a connection are selected. */
const NODE_PATHS = [['nodes'], ['edges', 'node']]

/** Builds the Prisma query of the rows of a root list from the selections of `nodes` and `edges.node`. */
export const buildNodeQuery = (typeName: string, context: GraphQLContext, info: GraphQLResolveInfo) =>
  queryFromInfo({ context, info, typeName, paths: NODE_PATHS })

/** The fields of a selection set, including those of fragments; each fragment is visited once. */
function listFieldNodes(
  info: GraphQLResolveInfo,
  set: SelectionSetNode | undefined,
  visited: Set<string>,
): FieldNode[] {
  return (set?.selections ?? []).flatMap((node) => {
    if (node.kind === Kind.FIELD) return [node]
    if (node.kind === Kind.INLINE_FRAGMENT) return listFieldNodes(info, node.selectionSet, visited)
    if (visited.has(node.name.value)) return []
    visited.add(node.name.value)
    return listFieldNodes(info, info.fragments[node.name.value]?.selectionSet, visited)
  })
}

/**
 * Names of the selected fields of a list's rows. Ignores @skip and @include, so that the set may be too
 * large.
 */
export function getNodeFields(info: GraphQLResolveInfo): Set<string> {
  const listChildFields = (parents: readonly FieldNode[]): FieldNode[] => {
    const visited = new Set<string>()
    return parents.flatMap((parent) => listFieldNodes(info, parent.selectionSet, visited))
  }
  const rows = NODE_PATHS.flatMap((path) =>
    path.reduce<readonly FieldNode[]>(
      (parents, name) => listChildFields(parents).filter((field) => field.name.value === name),
      info.fieldNodes,
    ),
  )
  return new Set(listChildFields(rows).map((field) => field.name.value))
}

/** What cursors of a nested list are bound to, such as `User.sessions`. */
export const toNestedListName = (tenant: string, list: string): string => `${tenant}:${list}`

const parseNestedPaging = (args: PageArgs, { ctx }: GraphQLContext, list: string) =>
  parsePaging(
    ctx,
    { first: args.first ?? DEFAULT_PAGE_SIZE, after: args.after },
    toNestedListName(ctx.tenant, list),
  )

/**
 * Builds the Prisma query of a page of a nested list, ordered by id; it is part of the parent's query. Throws
 * InvalidInput.
 */
export function buildNestedQuery<Where extends object>(
  args: PageArgs,
  context: GraphQLContext,
  list: string,
  where: Where,
) {
  const paging = parseNestedPaging(args, context, list)
  const seek = paging.mode === 'cursor' ? paging.seek : null
  return {
    take: paging.pageSize + 1,
    orderBy: { id: 'asc' as const },
    where: seek ? { ...where, id: { gt: seek.id } } : where,
  }
}

/**
 * Adds the selections of the rows to the query of a nested list. `nested` is the third parameter of the
 * field's `select`, `key` a column that identifies a row.
 */
export function addNodeSelection<Query extends object>(
  nested: unknown,
  typeName: string,
  query: Query,
  key = 'id',
): Query {
  // Pothos accepts several paths, but declares the type of its public function for one.
  const select = nested as (
    query: Query,
    include: { getType: () => string; paths: { name: string }[][] },
  ) => Query
  const paths = NODE_PATHS.map((path) => path.map((name) => ({ name })))
  const selected: Query & { select?: object } = select(query, { getType: () => typeName, paths })
  // Without a selection of rows (only totalSize or pageInfo), the selection is empty, which Prisma rejects.
  return selected.select && Object.keys(selected.select).length === 0
    ? { ...selected, select: { [key]: true } }
    : selected
}

/** Creates the page of a nested list from the rows of its query. `readId` reads the id by which the query is ordered. */
export const toNestedPage = <Row extends { id: string }>(
  args: PageArgs,
  context: GraphQLContext,
  list: string,
  rows: Row[],
  countAll: () => Promise<number>,
  readId = (row: Row): string => row.id,
): Page<Row> =>
  toPage(parseNestedPaging(args, context, list), rows, {
    name: toNestedListName(context.ctx.tenant, list),
    toKey: (row) => ({ value: null, id: readId(row) }),
    countAll,
  })
