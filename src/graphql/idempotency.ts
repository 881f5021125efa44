import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  getOperationAST,
  Kind,
  OperationTypeNode,
  type SelectionSetNode,
} from 'graphql'
import { InvalidInput } from '../errors.ts'
import { answerOnce, IDEMPOTENCY_KEY, idempotencyKeyOf } from '../idempotency.ts'
import type { GraphQLContext } from './context.ts'
import { maskErrors, toJson } from './masking.ts'

/** A mutation field that creates: spread it over what `scoped` gives. It may be repeated under a key, and says so. */
export const creation = <Options extends { description: string; extensions: object }>(options: Options) => ({
  ...options,
  description: `${options.description} May be repeated under an ${IDEMPOTENCY_KEY}.`,
  extensions: { ...options.extensions, isCreation: true },
})

/** Names of the fields that an operation selects on its root, fragments included. */
function rootFieldsOf(document: DocumentNode, selections: SelectionSetNode): string[] {
  const names = new Set<string>()
  const seen = new Set<string>()
  const visit = (set: SelectionSetNode | undefined): void => {
    for (const node of set?.selections ?? []) {
      if (node.kind === Kind.FIELD) names.add(node.name.value)
      else if (node.kind === Kind.INLINE_FRAGMENT) visit(node.selectionSet)
      else if (!seen.has(node.name.value)) {
        seen.add(node.name.value)
        visit(
          document.definitions.find(
            (definition): definition is FragmentDefinitionNode =>
              definition.kind === Kind.FRAGMENT_DEFINITION && definition.name.value === node.name.value,
          )?.selectionSet,
        )
      }
    }
  }
  visit(selections)
  names.delete('__typename')
  return [...names]
}

const isCreation = (schema: GraphQLSchema, name: string): boolean =>
  schema.getMutationType()?.getFields()[name]?.extensions.isCreation === true

/**
 * The key that an operation runs under. The header is about a mutation as a whole, all of whose fields are creations;
 * others, and callers that nobody knows, have none. Throws InvalidInput for a mutation of creations among other fields,
 * which nobody may take for repeatable, and for a key that is none.
 */
export function keyOf(
  { schema, document, operationName }: Pick<ExecutionArgs, 'schema' | 'document' | 'operationName'>,
  { ctx, call }: GraphQLContext,
): string | null {
  if (call.idempotencyKey === null || ctx.actor.kind === 'anonymous') return null
  const operation = getOperationAST(document, operationName)
  if (operation?.operation !== OperationTypeNode.MUTATION) return null
  const names = rootFieldsOf(document, operation.selectionSet)
  const others = names.filter((name) => !isCreation(schema, name))
  if (others.length === names.length) return null
  if (others.length > 0)
    throw new InvalidInput([
      { field: IDEMPOTENCY_KEY, description: `is for creations alone, which ${others.join(', ')} is not` },
    ])
  return idempotencyKeyOf(call.idempotencyKey)
}

/**
 * Executes a mutation under its key, or answers what it answered before. An answer is kept when something was created,
 * or when all failed as it would again; else the key is given back. Throws as answerOnce does.
 */
export async function executeUnderKey(
  key: string,
  context: GraphQLContext,
  request: readonly unknown[],
  execute: () => Promise<ExecutionResult>,
): Promise<ExecutionResult> {
  const { ctx, call } = context
  const { answer, isReplayed } = await answerOnce(ctx, key, ['graphql', ...request], async () => {
    const { errors, ...result } = await execute()
    const masked = errors && maskErrors(errors, ctx.requestId).map(toJson)
    return {
      answer: { ...(masked && { errors: masked }), ...result },
      isFinal: call.hasCreated || !(call.mayFareBetter || errors),
    }
  })
  call.isMasked = true
  call.isReplayed = isReplayed
  return answer as ExecutionResult
}
