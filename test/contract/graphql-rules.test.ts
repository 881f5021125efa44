import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isSpecifiedScalarType,
} from 'graphql'
import { describe, expect, test } from 'vitest'
import { ACCOUNT_SCOPE, SCOPE_NAMES } from '../../src/ctx.ts'
import { buildSchema } from '../../src/graphql/schema.ts'
import type { RuleExtensions } from '../../src/graphql/scoped.ts'

const schema = buildSchema()
const types = Object.values(schema.getTypeMap()).filter(
  (type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type),
)
const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].filter(
  (type) => !!type,
)
const rootFields = roots.flatMap((root) =>
  Object.values(root.getFields()).map((field): [string, GraphQLField<unknown, unknown>] => [
    `${root.name}.${field.name}`,
    field,
  ]),
)

const ruleOf = ({ extensions }: { extensions: object }) => (extensions as Partial<RuleExtensions>).rule

/** Root fields that need no scope of their own, each with the reason. A new one has to be argued for here. */
const OPEN_FIELDS: Record<string, string> = {
  'Query.node': 'demands the scope of the kind that the id names',
  'Query.nodes': 'as node',
  'Query.viewer': 'is about the caller alone',
}

/** Mutations of the caller's own account. They take a person's token with scope account, which is no management scope. */
const OWN_ACCOUNT = [
  'updateViewer',
  'requestEmailChange',
  'confirmEmailChange',
  'requestPhoneNumberChange',
  'confirmPhoneNumberChange',
  'removeViewerPhoneNumber',
  'revokeViewerSession',
  'revokeViewerSessions',
  'revokeViewerCredential',
  'createViewerEnrollmentToken',
  'linkViewerIdpUser',
  'unlinkViewerIdpUser',
  'revokeViewerConsent',
]

/** Object types without a rule of their own, each with the reason. A new one has to be argued for here. */
const OPEN_TYPES: Record<string, string> = {
  Actor: 'user and client have rules; ip is for auditors and oneself',
  Address: 'is part of User',
  ConsentedScope: 'is part of Consent',
  ConsentedClaim: 'is part of Consent',
  Device: 'is part of Credential',
  EventGap: 'says that there is nothing',
  FieldError: 'is part of an error',
  PageInfo: 'is part of a connection',
  SigningKey: 'is told by the key set, which everybody may read',
  Tenant: 'slug and age; whoever reaches it knows the slug, and TenantSettings has a rule',
  Viewer: 'is about the caller alone',
}

/** What only wraps types with rules of their own. */
const isWrapper = (type: GraphQLObjectType): boolean =>
  /(Connection|Edge|Payload)$/.test(type.name) ||
  type.getInterfaces().some(({ name }) => name === 'UserError')

const objectTypes = types.filter((type) => isObjectType(type) && !roots.includes(type)) as GraphQLObjectType[]

describe('every root field', () => {
  test.each(rootFields)('%s names its scope, or is on the list of those that need none', (name, field) => {
    const rule = ruleOf(field)
    if (OPEN_FIELDS[name]) return expect(rule?.scopes).toBeUndefined()
    if (rule?.account) {
      expect(OWN_ACCOUNT).toContain(field.name)
      return expect(field.description).toContain(`scope ${ACCOUNT_SCOPE}`)
    }
    expect(rule?.scopes, `${name} has no rule: use scoped()`).toBeDefined()
    for (const scope of rule?.scopes ?? []) {
      expect(SCOPE_NAMES).toContain(scope)
      expect(field.description).toContain(scope)
    }
  })

  test('the list of fields that need no scope has no leftovers', () => {
    const names = rootFields.map(([name]) => name)
    const listed = [...Object.keys(OPEN_FIELDS), ...OWN_ACCOUNT.map((name) => `Mutation.${name}`)]
    expect(listed.filter((name) => !names.includes(name))).toEqual([])
  })

  test.each(rootFields.filter(([name]) => !name.startsWith('Subscription.')))(
    '%s is nullable',
    (_name, field) => {
      // A root field that fails must not null its siblings.
      expect(String(field.type)).not.toMatch(/!$/)
    },
  )
})

describe('every object type', () => {
  test.each(objectTypes.map((type) => [type.name, type] as const))(
    '%s names its scope, or holds nothing but what does',
    (name, type) => {
      const rule = ruleOf(type)
      if (isWrapper(type) || OPEN_TYPES[name]) return expect(rule?.scopes).toBeUndefined()
      expect(rule?.scopes, `${name} has no rule: use scoped()`).toBeDefined()
      for (const scope of rule?.scopes ?? []) expect(type.description).toContain(scope)
    },
  )
})

describe('the schema', () => {
  test('describes every type, field, argument, input field and enum value', () => {
    const faults: string[] = []
    const check = (name: string, described: { description?: string | null }) => {
      if (!described.description?.trim()) faults.push(name)
    }
    const checkField = (type: GraphQLNamedType, field: GraphQLField<unknown, unknown>) => {
      check(`${type.name}.${field.name}`, field)
      for (const argument of field.args) check(`${type.name}.${field.name}(${argument.name})`, argument)
    }
    for (const type of types) {
      check(type.name, type)
      if (isObjectType(type) || isInterfaceType(type))
        for (const field of Object.values(type.getFields())) checkField(type, field)
      if (isInputObjectType(type))
        for (const field of Object.values(type.getFields())) check(`${type.name}.${field.name}`, field)
      if (isEnumType(type)) for (const value of type.getValues()) check(`${type.name}.${value.name}`, value)
    }
    expect(faults).toEqual([])
  })

  test('takes one input object in every mutation, and answers with a union of the payload and errors', () => {
    const mutations = Object.values(schema.getMutationType()?.getFields() ?? {})
    expect(mutations.length).toBeGreaterThan(0)
    const name = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`
    for (const field of mutations) {
      expect(
        field.args.map(({ name }) => name),
        field.name,
      ).toEqual(['input'])
      expect(String(field.type)).toBe(`${name(field.name)}Result`)
    }
  })

  test('has only the scalars that GraphQL brings, DateTime and JSONObject', () => {
    const ours = Object.values(schema.getTypeMap()).filter(
      (type) => type.astNode === undefined && 'serialize' in type && !isEnumType(type),
    )
    expect(ours.map(({ name }) => name).sort()).toEqual(
      ['Boolean', 'DateTime', 'Float', 'ID', 'Int', 'JSONObject', 'String']
        .filter((name) => schema.getType(name))
        .sort(),
    )
  })

  test('has no field that hands out a stored secret', () => {
    const suspicious = objectTypes.flatMap((type) =>
      Object.keys(type.getFields())
        .filter((name) => /secret|hash|privateKey|tokenKey|password/i.test(name))
        .map((name) => `${type.name}.${name}`),
    )
    // Shown once, when it is made; only whether there is one; or a hash of what is shown.
    expect(suspicious.sort()).toEqual([
      'CreateClientPayload.secret',
      'Device.hash',
      'IdentityProvider.hasClientSecret',
      'RotateClientSecretPayload.previousSecretExpiresAt',
      'RotateClientSecretPayload.secret',
    ])
  })
})
