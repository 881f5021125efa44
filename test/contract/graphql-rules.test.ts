import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
} from 'graphql'
import { describe, expect, test } from 'vitest'
import { ACCOUNT_SCOPE, SCOPE_NAMES } from '../../src/core/scopes.ts'
import { FORMAT_SCALARS } from '../../src/graphql/format-scalars.ts'
import { findRule, namedTypes, objectTypes, rootFields, schema } from '../support/schema.ts'

describe('every root field', () => {
  /** Root fields without a scope, each with the reason. */
  const OPEN_FIELDS: Record<string, string> = {
    'query node': 'requires the scope of the type that the id names',
    'query nodes': 'as node',
    'query viewer': 'is about the caller only',
  }

  /** Mutations of the own account. They require the scope account, which is not a management scope. */
  const OWN_ACCOUNT = [
    'setViewerDeletion',
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
    'createViewerTotp',
    'confirmViewerTotp',
    'createViewerRecoveryCodes',
    'linkViewerIdpUser',
    'unlinkViewerIdpUser',
    'revokeViewerConsent',
    'createViewerApiKey',
    'rotateViewerApiKey',
    'revokeViewerApiKey',
    'acceptViewerInvitation',
    'declineViewerInvitation',
    'leaveViewerOrganization',
  ]

  test.each(rootFields)('%s declares its scope in its rule and its description', (title, _kind, field) => {
    const rule = findRule(field)
    if (OPEN_FIELDS[title]) return expect(rule?.scopes).toBeUndefined()
    if (rule?.account) {
      expect(OWN_ACCOUNT).toContain(field.name)
      return expect(field.description).toContain(`scope ${ACCOUNT_SCOPE}`)
    }
    expect(rule?.scopes, `${title} has no rule`).toBeDefined()
    for (const scope of rule?.scopes ?? []) {
      expect(SCOPE_NAMES).toContain(scope)
      expect(field.description).toContain(scope)
    }
  })

  test('exists when it is listed as a field without a scope', () => {
    const titles = rootFields.map(([title]) => title)
    const listed = [...Object.keys(OPEN_FIELDS), ...OWN_ACCOUNT.map((name) => `mutation ${name}`)]
    expect(listed.filter((title) => !titles.includes(title))).toEqual([])
  })

  test.each(rootFields.filter(([, kind]) => kind !== 'subscription'))(
    '%s is nullable, so that its error leaves the other fields',
    (_title, _kind, field) => {
      expect(String(field.type)).not.toMatch(/!$/)
    },
  )
})

/** Object types without a rule of their own, each with the reason. */
const OPEN_TYPES: Record<string, string> = {
  AccountDeletion: 'is read through fields of the viewer and of users, which have rules',
  Actor: 'user and client have rules; ip is shown to auditors and to the user',
  Address: 'is part of User',
  ClaimMapping: 'is part of Client',
  ClaimRole: 'is part of IdentityProvider',
  ApiPermission: 'is part of Api',
  ApiTranslation: 'is part of Api',
  AppRolePermission: 'is part of AppRole',
  ClientTranslation: 'is part of Client',
  CopiedClaims: 'is part of IdentityProvider',
  ConsentedScope: 'is part of Consent',
  ConsentedClaim: 'is part of Consent',
  Device: 'is part of Credential',
  EventGap: 'reports that events were removed',
  FieldError: 'is part of an error',
  IdentityProviderFinding: 'is returned by testIdentityProvider alone, which has a rule',
  LookupMatch: 'is returned by lookup alone, which leaves out what the caller may not read',
  MethodCounts: 'is part of DailyCount, which has a rule',
  OmittedClaims: 'is part of TokenPreview',
  PageInfo: 'is part of a connection',
  PermittedScope: 'is part of RoleDefinition',
  PermissionPath: 'is part of PermissionResult',
  PermissionResult: 'is returned by checkPermission and checkPermissions alone, which have rules',
  PermissionTranslation: 'is part of ApiPermission',
  PublicClient: 'has what the consent page shows of a client',
  RoleDefinition: 'is read by the query `roles`, which has a rule',
  SignInExplanation: 'is returned by explainSignIn alone, which requires the scope of each argument',
  SignInRemedy: 'is part of SignInStep',
  SignInStep: 'is part of SignInExplanation',
  TenantSetupStep: 'is read by Tenant.setup, which has a rule',
  SignUpField: 'is read through the settings, whose type has a rule',
  ViewerInvitation: 'is read by Viewer.invitations, which has a rule',
  SignUpFieldSchema: 'is part of SignUpField',
  SessionProof: 'is read through a session, whose type has a rule',
  TextOverride: 'is read through the settings, whose type has a rule',
  SigningKey: 'is published in the key set',
  TokenPreview: 'is returned by previewToken alone, which requires the scopes of its arguments',
  Tenant: 'has a slug, which its caller knows, and an age; TenantSettings has a rule',
  UserPermission: 'is read through User.permissions, which has a rule',
  Viewer: 'is about the caller alone',
}

/** Types that only wrap types with rules. */
const isWrapper = (type: GraphQLObjectType): boolean =>
  /(Connection|Edge|Payload)$/.test(type.name) ||
  type.getInterfaces().some(({ name }) => name === 'UserError')

describe('every object type', () => {
  test.each(objectTypes.map((type) => [type.name, type] as const))(
    '%s declares its scope, or contains only types that do',
    (name, type) => {
      const rule = findRule(type)
      if (isWrapper(type) || OPEN_TYPES[name]) return expect(rule?.scopes).toBeUndefined()
      expect(rule?.scopes, `${name} has no rule`).toBeDefined()
      for (const scope of rule?.scopes ?? []) expect(type.description).toContain(scope)
    },
  )
})

describe('the schema', () => {
  test('describes every type, field, argument, input field and enum value', () => {
    const undescribed: string[] = []
    const check = (name: string, described: { description?: string | null }) => {
      if (!described.description?.trim()) undescribed.push(name)
    }
    const checkField = (type: GraphQLNamedType, field: GraphQLField<unknown, unknown>) => {
      check(`${type.name}.${field.name}`, field)
      for (const argument of field.args) check(`${type.name}.${field.name}(${argument.name})`, argument)
    }
    for (const type of namedTypes) {
      check(type.name, type)
      if (isObjectType(type) || isInterfaceType(type))
        for (const field of Object.values(type.getFields())) checkField(type, field)
      if (isInputObjectType(type))
        for (const field of Object.values(type.getFields())) check(`${type.name}.${field.name}`, field)
      if (isEnumType(type)) for (const value of type.getValues()) check(`${type.name}.${value.name}`, value)
    }
    expect(undescribed).toEqual([])
  })

  test('gives every mutation one input object and a union of payload and errors', () => {
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

  test('has no scalars except those of GraphQL and of formats, DateTime and JSONObject', () => {
    const formatNames = Object.values(FORMAT_SCALARS).map(({ name }) => name)
    const ours = Object.values(schema.getTypeMap()).filter(
      (type) => type.astNode === undefined && 'serialize' in type && !isEnumType(type),
    )
    expect(ours.map(({ name }) => name).sort()).toEqual(
      ['Boolean', 'DateTime', 'Float', 'ID', 'Int', 'JSONObject', 'String', ...formatNames]
        .filter((name) => schema.getType(name))
        .sort(),
    )
  })

  test('says of each deprecated member since when, until when and by what it is replaced', () => {
    const members = namedTypes.flatMap((type) =>
      isObjectType(type) || isInterfaceType(type) || isInputObjectType(type)
        ? Object.values(type.getFields()).map((field) => [`${type.name}.${field.name}`, field] as const)
        : [],
    )
    const deprecated = members.filter(([, { deprecationReason }]) => deprecationReason !== undefined)
    expect(deprecated.map(([name]) => name)).toEqual(['Query.idpUserTokens', 'Query.signInLimits'])
    for (const [name, { deprecationReason }] of deprecated) {
      const [, since = '', until = ''] =
        /^Deprecated on (\S+), removed on (\S+) at the earliest\. Use /.exec(deprecationReason ?? '') ?? []
      expect(Date.parse(until) - Date.parse(since), name).toBeGreaterThanOrEqual(180 * 86_400_000)
    }
  })

  test('has no field that returns a stored secret', () => {
    const suspicious = objectTypes.flatMap((type) =>
      Object.keys(type.getFields())
        .filter((name) => /secret|hash|privateKey|tokenKey|password/i.test(name))
        .map((name) => `${type.name}.${name}`),
    )
    // A secret at its creation, the presence of a secret, and a hash of public values.
    expect(suspicious.sort()).toEqual([
      'CreateClientPayload.secret',
      'CreateViewerTotpPayload.secret',
      'CreateWebhookPayload.secret',
      'Device.hash',
      'IdentityProvider.hasClientSecret',
      'IdentityProvider.hasSignalsSecret',
      'MethodCounts.password',
      'RotateClientSecretPayload.previousSecretExpiresAt',
      'RotateClientSecretPayload.secret',
      'RotateSignalsSecretPayload.secret',
      'RotateWebhookSecretPayload.secret',
      'Webhook.previousSecretExpiresAt',
    ])
  })
})
