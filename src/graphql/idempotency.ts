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
import { takeStoredAnswer } from '../coordination/person-budgets.ts'
import { InvalidInput } from '../core/errors.ts'
import { IDEMPOTENCY_KEY, parseIdempotencyKey, runIdempotently } from '../http/idempotency.ts'
import type { GraphQLContext } from './context.ts'
import { maskErrors, toErrorJson } from './error-masking.ts'

/**
 * Marks a mutation field as a create operation that accepts an Idempotency-Key, and adds this to its
 * description.
 */
export const markCreation = <Options extends { description: string; extensions: object }>(
  options: Options,
) => ({
  ...options,
  description: `${options.description} Accepts an ${IDEMPOTENCY_KEY}.`,
  extensions: { ...options.extensions, isCreation: true },
})

/** Names of the root fields of an operation, including those of fragments. */
function listRootFields(document: DocumentNode, selections: SelectionSetNode): string[] {
  const names = new Set<string>()
  const seen = new Set<string>()
  const collectNames = (set: SelectionSetNode | undefined): void => {
    for (const node of set?.selections ?? []) {
      if (node.kind === Kind.FIELD) names.add(node.name.value)
      else if (node.kind === Kind.INLINE_FRAGMENT) collectNames(node.selectionSet)
      else if (!seen.has(node.name.value)) {
        seen.add(node.name.value)
        collectNames(
          document.definitions.find(
            (definition): definition is FragmentDefinitionNode =>
              definition.kind === Kind.FRAGMENT_DEFINITION && definition.name.value === node.name.value,
          )?.selectionSet,
        )
      }
    }
  }
  collectNames(selections)
  names.delete('__typename')
  return [...names]
}

const isCreation = (schema: GraphQLSchema, name: string): boolean =>
  schema.getMutationType()?.getFields()[name]?.extensions.isCreation === true

/**
 * Finds the idempotency key of an operation. The header applies to a mutation whose fields are all create
 * operations; it is ignored for other operations and for anonymous callers. Throws InvalidInput for an
 * invalid key, and for a mutation that has create operations and other fields.
 */
export function findIdempotencyKey(
  { schema, document, operationName }: Pick<ExecutionArgs, 'schema' | 'document' | 'operationName'>,
  { ctx, call }: GraphQLContext,
): string | null {
  if (call.idempotencyKey === null || ctx.actor.kind === 'anonymous') return null
  const operation = getOperationAST(document, operationName)
  if (operation?.operation !== OperationTypeNode.MUTATION) return null
  const names = listRootFields(document, operation.selectionSet)
  const others = names.filter((name) => !isCreation(schema, name))
  if (others.length === names.length) return null
  if (others.length > 0)
    throw new InvalidInput([
      {
        field: IDEMPOTENCY_KEY,
        description: `applies to create operations only, unlike ${others.join(', ')}`,
      },
    ])
  return parseIdempotencyKey(call.idempotencyKey)
}

/**
 * Executes a mutation under its key, or returns the stored result. A result is stored when a field has
 * succeeded, or when all have failed with errors that a retry would repeat; otherwise the key is released.
 * Throws like `runIdempotently`.
 */
export async function executeIdempotently(
  key: string,
  context: GraphQLContext,
  request: readonly unknown[],
  execute: () => Promise<ExecutionResult>,
): Promise<ExecutionResult> {
  const { ctx, call } = context
  const work = async () => {
    const { errors, ...result } = await execute()
    const masked = errors && maskErrors(errors, ctx.requestId).map(toErrorJson)
    return {
      response: { ...(masked && { errors: masked }), ...result },
      isFinal: call.hasSucceeded || !(call.isRetryable || errors),
    }
  }
  const keyed = ['graphql', ...request]
  const { response, isReplayed } = await runIdempotently(ctx, key, keyed, work, takeStoredAnswer)
  call.isMasked = true
  call.isReplayed = isReplayed
  return response as ExecutionResult
}
