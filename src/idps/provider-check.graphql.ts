import { InvalidInput, NotFound } from '../core/errors.ts'
import { builder } from '../graphql/builder.ts'
import { withPublicAccess, withScope } from '../graphql/field-access.ts'
import { toResultOptions } from '../graphql/result-options.ts'
import { requireIdpId } from './idps.graphql.ts'
import {
  FINDING_STATUSES,
  type Finding,
  type FindingStatus,
  PROVIDER_CHECKS,
  type ProviderCheck,
  type ProviderTest,
  SUCCEEDED_DESCRIPTION,
} from './provider-check.fields.ts'
import { testIdentityProvider } from './provider-check.ts'

const toValues = <Name extends string>(table: Record<Name, string>) =>
  Object.fromEntries(
    Object.entries(table).map(([value, description]) => [value.toUpperCase(), { value, description }]),
  ) as Record<Uppercase<Name>, { value: Name; description: string }>

const CheckEnum = builder.enumType('IdentityProviderCheck', {
  description: 'What a test of an identity provider asks.',
  values: toValues<ProviderCheck>(PROVIDER_CHECKS),
})

const StatusEnum = builder.enumType('IdentityProviderFindingStatus', {
  description: 'The result of a check.',
  values: toValues<FindingStatus>(FINDING_STATUSES),
})

const FindingRef = builder.objectRef<Finding>('IdentityProviderFinding').implement({
  ...withScope('idps:write', 'What a test of an identity provider found.'),
  fields: (t) => ({
    check: t.field({ type: CheckEnum, description: 'What was asked.', resolve: ({ check }) => check }),
    status: t.field({ type: StatusEnum, description: 'The result.', resolve: ({ status }) => status }),
    cause: t.exposeString('cause', {
      nullable: true,
      description: 'Of a failed check, the cause as the event signin.failed names it.',
    }),
    description: t.exposeString('description', { description: 'What was found, in words.' }),
  }),
})

const TestIdentityProviderPayload = builder.objectRef<ProviderTest>('TestIdentityProviderPayload').implement({
  ...withPublicAccess('The findings of a test of an identity provider.'),
  fields: (t) => ({
    succeeded: t.exposeBoolean('succeeded', { description: SUCCEEDED_DESCRIPTION }),
    findings: t.field({
      type: [FindingRef],
      description: 'One for each check, in their order.',
      resolve: ({ findings }) => findings,
    }),
  }),
})

const TestIdentityProviderInput = builder.inputType('TestIdentityProviderInput', {
  description: 'Input of testIdentityProvider.',
  fields: (t) => ({ idpId: t.id({ required: true, description: 'Id of the identity provider.' }) }),
})

builder.mutationField('testIdentityProvider', (t) =>
  t.field({
    ...withScope(
      'idps:write',
      'Tests an identity provider: metadata, keys, endpoints, and whether it accepts client id and secret.',
    ),
    ...toResultOptions(InvalidInput, NotFound),
    type: TestIdentityProviderPayload,
    args: {
      input: t.arg({
        type: TestIdentityProviderInput,
        required: true,
        description: 'The provider to test.',
      }),
    },
    resolve: (_root, { input: { idpId } }, { ctx }) =>
      testIdentityProvider(ctx, requireIdpId(idpId, 'idpId')),
  }),
)
