import { maxAliasesRule } from '@escape.tech/graphql-armor-max-aliases'
import { maxDepthRule } from '@escape.tech/graphql-armor-max-depth'
import { maxDirectivesRule } from '@escape.tech/graphql-armor-max-directives'
import { complexityFromQuery } from '@pothos/plugin-complexity'
import {
  type ASTVisitor,
  BREAK,
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  getVariableValues,
  Kind,
  type SelectionSetNode,
  type ValidationContext,
  type ValidationRule,
  visit,
} from 'graphql'
import type { Ctx } from '../../context/context.ts'
import type { OperationCost } from '../context.ts'
import { computeCountCost } from './count-cost.ts'
import { findVariablesError } from './document-limits.ts'

const MAX_DEPTH = 12
const MAX_ALIASES = 30
const MAX_DIRECTIVES = 30
/** A page of 1000 rows costs 2000 to 4000; fifty users with three full lists each cost 7700. */
const MAX_COMPLEXITY = 10_000

/**
 * Mutations that check or send a secret. An operation may have one of them, so that aliases do not multiply
 * guesses; services have the rate limits, which all transports share.
 */
const CREDENTIAL_FIELDS = new Set([
  'authenticatePasscode',
  'authenticateSession',
  'sendEmailPasscode',
  'sendSmsPasscode',
  'requestEmailChange',
  'requestPhoneNumberChange',
  'confirmEmailChange',
  'confirmPhoneNumberChange',
  'linkViewerIdpUser',
])

/** The error of an operation that exceeds a limit. */
const createLimitError = (
  message: string,
  code: string,
  extensions: { cost?: OperationCost } = {},
): GraphQLError =>
  new GraphQLError(message, { extensions: { code, ...extensions, http: { status: 400, spec: true } } })

const createRuleOptions = (code: string) => ({
  flattenFragments: true,
  // A thrown error would skip the other rules and have no status.
  propagateOnRejection: false,
  onReject: [
    (context: ValidationContext | null, error: GraphQLError) =>
      context?.reportError(createLimitError(error.message.replace('Syntax Error: ', ''), code)),
  ],
})

function requireSingleOperation(context: ValidationContext): ASTVisitor {
  return {
    Document(document) {
      const operations = document.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION)
      if (operations.length > 1)
        context.reportError(createLimitError('A document may have only one operation.', 'QUERY_TOO_COMPLEX'))
    },
  }
}

function requireSingleCredentialField(context: ValidationContext): ASTVisitor {
  const fragmentCounts = new Map<string, number>()
  const countInFragment = (name: string): number => {
    const counted = fragmentCounts.get(name)
    if (counted !== undefined) return counted
    fragmentCounts.set(name, 0) // ends a cycle, which another rule rejects
    const count = countInSelections(context.getFragment(name)?.selectionSet)
    fragmentCounts.set(name, count)
    return count
  }
  const countInSelections = (set: SelectionSetNode | undefined): number =>
    (set?.selections ?? []).reduce((sum, node) => {
      if (node.kind === Kind.FIELD) return sum + (CREDENTIAL_FIELDS.has(node.name.value) ? 1 : 0)
      return (
        sum +
        (node.kind === Kind.FRAGMENT_SPREAD
          ? countInFragment(node.name.value)
          : countInSelections(node.selectionSet))
      )
    }, 0)
  return {
    OperationDefinition(operation) {
      if (operation.operation === 'mutation' && countInSelections(operation.selectionSet) > 1)
        context.reportError(
          createLimitError('An operation may check or send only one credential.', 'QUERY_TOO_COMPLEX'),
        )
    },
  }
}

/** Validation rules that depend on the document only, whose result is kept with it. */
export const LIMIT_RULES = [
  requireSingleOperation,
  requireSingleCredentialField,
  maxAliasesRule({ n: MAX_ALIASES, ...createRuleOptions('QUERY_TOO_COMPLEX') }),
  maxDepthRule({ n: MAX_DEPTH, ...createRuleOptions('QUERY_TOO_COMPLEX') }),
  maxDirectivesRule({ n: MAX_DIRECTIVES, ...createRuleOptions('QUERY_TOO_COMPLEX') }),
] as unknown as ValidationRule[]

const introspectionCache = new WeakMap<DocumentNode, boolean>()

/** True when a document selects `__schema` or `__type` anywhere. */
function isIntrospection(document: DocumentNode): boolean {
  let found = introspectionCache.get(document)
  if (found === undefined) {
    found = false
    visit(document, {
      Field(node) {
        if (node.name.value !== '__schema' && node.name.value !== '__type') return undefined
        found = true
        return BREAK
      },
    })
    introspectionCache.set(document, found)
  }
  return found
}

export type OperationArgs = {
  schema: GraphQLSchema
  document: DocumentNode
  variableValues?: Record<string, unknown> | null
  operationName?: string | null
}

/** The cost of an operation (null when it is invalid), and the errors that prevent its execution. */
export type OperationCheck = { cost: OperationCost | null; errors: GraphQLError[] }

/**
 * Checks what depends on the caller or the variables, and therefore cannot be cached with the document:
 * introspection, the variables, and the cost. In production, introspection requires a management scope.
 */
export function checkOperation(args: OperationArgs, ctx: Ctx, isProduction: boolean): OperationCheck {
  const reject = (...errors: GraphQLError[]): OperationCheck => ({ cost: null, errors })
  if (isProduction && ctx.scopes.size === 0 && isIntrospection(args.document))
    return reject(
      createLimitError('Introspection requires an access token with a management scope.', 'FORBIDDEN'),
    )
  const { errors, coerced } = coerceVariables(args)
  if (errors.length > 0) return reject(...errors)
  const requested = computeCost(args, coerced)
  const cost = { requested, maximum: MAX_COMPLEXITY }
  if (requested <= MAX_COMPLEXITY) return { cost, errors: [] }
  const message = `The operation costs ${requested}; the maximum is ${MAX_COMPLEXITY}. Request smaller pages.`
  return { cost, errors: [createLimitError(message, 'QUERY_TOO_COMPLEX', { cost })] }
}

/** The cost of an operation with coerced variables, which include the default values. Pothos coerces them itself. */
function computeCost(
  { schema, document, variableValues }: OperationArgs,
  variables: Record<string, unknown>,
): number {
  const { complexity } = complexityFromQuery(document, { schema, variables: variableValues ?? {} })
  const operation = document.definitions.find((node) => node.kind === Kind.OPERATION_DEFINITION)
  if (!operation) return complexity
  const fragments = Object.fromEntries(
    document.definitions.flatMap((node) =>
      node.kind === Kind.FRAGMENT_DEFINITION ? [[node.name.value, node]] : [],
    ),
  )
  return complexity + computeCountCost({ schema, operation, fragments, variables })
}

/** The maximum number of reported errors of variables. */
const MAX_VARIABLE_ERRORS = 5

/**
 * Coerces the variables, and returns their errors. Each error quotes the whole value, so that reporting all unknown members of a 100
 * KB object would take twelve seconds: the number of errors is limited.
 */
function coerceVariables({ schema, document, variableValues }: OperationArgs): {
  errors: GraphQLError[]
  coerced: Record<string, unknown>
} {
  const tooMany = findVariablesError(variableValues ?? {})
  if (tooMany) return { errors: [tooMany], coerced: {} }
  const operation = document.definitions.find((node) => node.kind === Kind.OPERATION_DEFINITION)
  const definitions = operation?.variableDefinitions ?? []
  const options = { maxErrors: MAX_VARIABLE_ERRORS }
  const { errors = [], coerced = {} } = getVariableValues(schema, definitions, variableValues ?? {}, options)
  return { errors: errors.map(toVariableError), coerced }
}

const toVariableError = ({ message, nodes }: GraphQLError): GraphQLError =>
  new GraphQLError(message, {
    nodes,
    extensions: { code: 'BAD_USER_INPUT', http: { status: 400, spec: true } },
  })
