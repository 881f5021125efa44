import {
  type ArgumentNode,
  type DocumentNode,
  type ExecutionArgs,
  getOperationAST,
  Kind,
  type SelectionNode,
  visit,
} from 'graphql'
import type { Actor } from '../../context/context.ts'
import type { GraphQLContext } from '../context.ts'

/** The argument of every subscription that says where it starts. */
const START_ARGUMENT = 'after'

/** What the keys of a document have in common. A known document is the same for the same text. */
type DocumentKey = { id: number; startVariable: string | null }

const documentKeys = new WeakMap<DocumentNode, Map<string | undefined, DocumentKey>>()
let lastId = 0

const findStartArgument = (selection: SelectionNode | undefined): ArgumentNode | undefined =>
  selection?.kind === Kind.FIELD
    ? selection.arguments?.find(({ name }) => name.value === START_ARGUMENT)
    : undefined

function countUses(document: DocumentNode, variable: string): number {
  let uses = 0
  visit(document, {
    VariableDefinition: () => false,
    Variable: ({ name }) => {
      if (name.value === variable) uses += 1
    },
  })
  return uses
}

/** The variable that only says where the subscription starts; null without one. */
function findStartVariable(document: DocumentNode, operationName: string | null | undefined): string | null {
  const operation = getOperationAST(document, operationName)
  const value = findStartArgument(operation?.selectionSet.selections[0])?.value
  return value?.kind === Kind.VARIABLE && countUses(document, value.name.value) === 1
    ? value.name.value
    : null
}

function resolveDocumentKey({ document, operationName }: ExecutionArgs): DocumentKey {
  const keys = documentKeys.get(document) ?? new Map<string | undefined, DocumentKey>()
  documentKeys.set(document, keys)
  const name = operationName ?? undefined
  let key = keys.get(name)
  if (!key) {
    lastId += 1
    key = { id: lastId, startVariable: findStartVariable(document, operationName) }
    keys.set(name, key)
  }
  return key
}

const listSorted = (values: ReadonlySet<string> | undefined): string[] => [...(values ?? [])].sort()

const describeActor = (actor: Actor): unknown =>
  actor.kind === 'user' ? { ...actor, oidcScopes: listSorted(actor.oidcScopes) } : actor

/**
 * The key of subscriptions whose results are the same for each event: those of one actor with the same scopes,
 * document, operation and variables, apart from where they start.
 */
export function createShareKey(args: ExecutionArgs, { ctx }: GraphQLContext): string {
  const { id, startVariable } = resolveDocumentKey(args)
  const variables = Object.entries(args.variableValues ?? {})
    .filter(([name]) => name !== startVariable)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify([
    id,
    args.operationName ?? null,
    variables,
    ctx.tenant,
    describeActor(ctx.actor),
    listSorted(ctx.scopes),
  ])
}
