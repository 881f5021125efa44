import { Conflict, InvalidInput, NotFound } from '../core/errors.ts'
import type { Role } from '../core/scopes.ts'
import { type SecondFactorMode, SIGN_IN_METHODS, type SignInMethodName } from '../core/sign-in-methods.ts'
import type { SignUpFieldSetting, SignUpMode } from '../core/sign-up.ts'
import type { TextOverride } from '../core/text-override.ts'
import { builder, type GraphQLTypes } from '../graphql/builder.ts'
import { connectionField, defineConnectionType, PAGE_ARGS } from '../graphql/connection.ts'
import { withPublicAccess, withScope } from '../graphql/field-access.ts'
import { markCreation } from '../graphql/idempotency.ts'
import { ID_DESCRIPTION, Node, nullIfNotFound, registerNode } from '../graphql/node.graphql.ts'
import { toResultOptions } from '../graphql/result-options.ts'
import { RoleEnum } from '../graphql/roles.graphql.ts'
import { EXPECTED_UPDATED_AT_DESCRIPTION } from '../schema/expected-updated-at.ts'
import { findDescription } from '../schema/schema-descriptions.ts'
import { buildBrandSettingFields, buildBrandSettingInputs } from './brand-settings.graphql.ts'
import { buildPasscodeSettingFields, buildPasscodeSettingInputs } from './passcode-settings.graphql.ts'
import { buildSessionSettingFields, buildSessionSettingInputs } from './session-settings.graphql.ts'
import { toSettings, updateSettings } from './settings.ts'
import { SignUpEnum, SignUpFieldInput, SignUpFieldRef } from './sign-up.graphql.ts'
import { createTenant, deleteTenant, getTenant, listTenants, type Tenant } from './tenants.ts'
import { TextOverrideInput, TextOverrideRef } from './text-overrides.graphql.ts'

type InputFields = PothosSchemaTypes.InputFieldBuilder<GraphQLTypes, 'InputObject'>

const SETTING_DESCRIPTIONS = {
  friendlyName: findDescription('Tenant', 'friendlyName'),
  logoUrl: findDescription('Tenant', 'logoUrl'),
  defaultAudience: findDescription('Tenant', 'defaultAudience'),
  loginUrl: findDescription('Tenant', 'loginUrl'),
  supportUrl: findDescription('Tenant', 'supportUrl'),
  defaultLocale: findDescription('Tenant', 'defaultLocale'),
  dynamicRegistration: findDescription('Tenant', 'dynamicRegistration'),
  clientIdMetadataDocuments: findDescription('Tenant', 'clientIdMetadataDocuments'),
  signUp: findDescription('Tenant', 'signUp'),
  signUpDomains: findDescription('Tenant', 'signUpDomains'),
  signUpFields: findDescription('Tenant', 'signUpFields'),
  textOverrides: findDescription('Tenant', 'textOverrides'),
  invitationLifetimeSeconds: findDescription('Tenant', 'invitationLifetimeSeconds'),
  termsUrl: findDescription('Tenant', 'termsUrl'),
  termsVersion: findDescription('Tenant', 'termsVersion'),
  privacyUrl: findDescription('Tenant', 'privacyUrl'),
  signInMethods: findDescription('Tenant', 'signInMethods'),
  offerPasskey: findDescription('Tenant', 'offerPasskey'),
  secondFactor: findDescription('Tenant', 'secondFactor'),
  secondFactorRoles: findDescription('Tenant', 'secondFactorRoles'),
  recoveryWaitingTime: findDescription('Tenant', 'recoveryWaitingTime'),
}

const METHOD_DESCRIPTIONS: Record<SignInMethodName, string> = {
  passcode: 'A code that is sent to an e-mail address or a phone number.',
  passkey: 'A passkey, which the user unlocks on the device.',
  provider: 'An identity provider of the tenant, at which the user signs in.',
}

const SecondFactorModeEnum = builder.enumType('SecondFactorMode', {
  description: 'Who presents a second factor.',
  values: {
    OFF: { value: 'off', description: 'Nobody.' },
    IF_ENROLLED: { value: 'if-enrolled', description: 'Users who have an authenticator app.' },
    REQUIRED: {
      value: 'required',
      description: 'All users; those who have none set up an authenticator app.',
    },
  } satisfies Record<string, { value: SecondFactorMode; description: string }>,
})

const SignInMethodEnum = builder.enumType('SignInMethod', {
  description: 'A way to sign in on the hosted pages.',
  values: Object.fromEntries(
    SIGN_IN_METHODS.map((name) => [
      name.toUpperCase(),
      { value: name, description: METHOD_DESCRIPTIONS[name] },
    ]),
  ) as Record<Uppercase<SignInMethodName>, { value: SignInMethodName; description: string }>,
})

const TenantSettings = builder.objectRef<ReturnType<typeof toSettings>>('TenantSettings').implement({
  ...withScope('tenant:read', 'The settings of a tenant.'),
  fields: (t) => ({
    friendlyName: t.exposeString('friendlyName', {
      nullable: true,
      description: SETTING_DESCRIPTIONS.friendlyName,
    }),
    logoUrl: t.exposeString('logoUrl', { nullable: true, description: SETTING_DESCRIPTIONS.logoUrl }),
    defaultAudience: t.exposeString('defaultAudience', {
      nullable: true,
      description: SETTING_DESCRIPTIONS.defaultAudience,
    }),
    loginUrl: t.exposeString('loginUrl', { nullable: true, description: SETTING_DESCRIPTIONS.loginUrl }),
    supportUrl: t.exposeString('supportUrl', {
      nullable: true,
      description: SETTING_DESCRIPTIONS.supportUrl,
    }),
    defaultLocale: t.exposeString('defaultLocale', {
      nullable: true,
      description: SETTING_DESCRIPTIONS.defaultLocale,
    }),
    dynamicRegistration: t.exposeBoolean('dynamicRegistration', {
      description: SETTING_DESCRIPTIONS.dynamicRegistration,
    }),
    clientIdMetadataDocuments: t.exposeBoolean('clientIdMetadataDocuments', {
      description: SETTING_DESCRIPTIONS.clientIdMetadataDocuments,
    }),
    signUp: t.field({
      type: SignUpEnum,
      description: SETTING_DESCRIPTIONS.signUp,
      resolve: ({ signUp }) => signUp as SignUpMode,
    }),
    signUpDomains: t.exposeStringList('signUpDomains', { description: SETTING_DESCRIPTIONS.signUpDomains }),
    signUpFields: t.field({
      type: [SignUpFieldRef],
      description: SETTING_DESCRIPTIONS.signUpFields,
      resolve: ({ signUpFields }) => signUpFields as SignUpFieldSetting[],
    }),
    invitationLifetimeSeconds: t.exposeInt('invitationLifetimeSeconds', {
      description: SETTING_DESCRIPTIONS.invitationLifetimeSeconds,
    }),
    termsUrl: t.exposeString('termsUrl', { nullable: true, description: SETTING_DESCRIPTIONS.termsUrl }),
    termsVersion: t.exposeString('termsVersion', {
      nullable: true,
      description: SETTING_DESCRIPTIONS.termsVersion,
    }),
    privacyUrl: t.exposeString('privacyUrl', {
      nullable: true,
      description: SETTING_DESCRIPTIONS.privacyUrl,
    }),
    signInMethods: t.field({
      type: [SignInMethodEnum],
      description: SETTING_DESCRIPTIONS.signInMethods,
      resolve: ({ signInMethods }) => signInMethods as SignInMethodName[],
    }),
    offerPasskey: t.exposeBoolean('offerPasskey', { description: SETTING_DESCRIPTIONS.offerPasskey }),
    secondFactor: t.field({
      type: SecondFactorModeEnum,
      description: SETTING_DESCRIPTIONS.secondFactor,
      resolve: ({ secondFactor }) => secondFactor as SecondFactorMode,
    }),
    secondFactorRoles: t.field({
      type: [RoleEnum],
      description: SETTING_DESCRIPTIONS.secondFactorRoles,
      resolve: ({ secondFactorRoles }) => secondFactorRoles as Role[],
    }),
    recoveryWaitingTime: t.exposeInt('recoveryWaitingTime', {
      description: SETTING_DESCRIPTIONS.recoveryWaitingTime,
    }),
    ...buildSessionSettingFields(t),
    ...buildPasscodeSettingFields(t),
    ...buildBrandSettingFields(t),
    textOverrides: t.field({
      type: [TextOverrideRef],
      description: SETTING_DESCRIPTIONS.textOverrides,
      resolve: ({ textOverrides }) => textOverrides as TextOverride[],
    }),
  }),
})

export const TenantRef = builder.objectRef<Tenant>('Tenant').implement({
  ...withPublicAccess('An isolated set of users, clients and keys. Its id is its slug.'),
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('tenantId', { description: ID_DESCRIPTION }),
    settings: t.field({
      description: 'The settings of the tenant.',
      type: TenantSettings,
      resolve: toSettings,
    }),
    updatedAt: t.expose('updatedAt', {
      type: 'DateTime',
      description: 'When the settings were last changed.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the tenant was created.' }),
  }),
})

registerNode('tenant', {
  ref: TenantRef,
  scope: 'tenant:read',
  // Only the tenant of this endpoint. Operators find the others in `tenants`.
  load: async (id, { ctx }) => (id === ctx.tenant ? nullIfNotFound(getTenant(ctx)) : null),
})

builder.queryField('tenant', (t) =>
  t.field({
    ...withScope('tenant:read', 'The tenant that this endpoint belongs to.'),
    type: TenantRef,
    nullable: true,
    resolve: (_root, _args, { ctx }) => nullIfNotFound(getTenant(ctx)),
  }),
)

const TenantConnection = defineConnectionType('Tenant', TenantRef)

builder.queryField('tenants', (t) =>
  t.field({
    ...withScope('tenants:read', 'All tenants of the deployment, by slug. Only in tenant system.'),
    ...connectionField(TenantConnection),
    args: PAGE_ARGS,
    resolve: (_root, args, { ctx }) => listTenants(ctx, args),
  }),
)

const buildSettingsInputFields = (t: InputFields) => ({
  friendlyName: t.string({ description: SETTING_DESCRIPTIONS.friendlyName }),
  logoUrl: t.string({ description: SETTING_DESCRIPTIONS.logoUrl }),
  defaultAudience: t.string({ description: SETTING_DESCRIPTIONS.defaultAudience }),
  loginUrl: t.string({ description: SETTING_DESCRIPTIONS.loginUrl }),
  supportUrl: t.string({ description: SETTING_DESCRIPTIONS.supportUrl }),
  defaultLocale: t.string({ description: SETTING_DESCRIPTIONS.defaultLocale }),
  dynamicRegistration: t.boolean({ description: SETTING_DESCRIPTIONS.dynamicRegistration }),
  clientIdMetadataDocuments: t.boolean({ description: SETTING_DESCRIPTIONS.clientIdMetadataDocuments }),
  signUp: t.field({ type: SignUpEnum, description: SETTING_DESCRIPTIONS.signUp }),
  signUpDomains: t.stringList({ description: SETTING_DESCRIPTIONS.signUpDomains }),
  signUpFields: t.field({ type: [SignUpFieldInput], description: SETTING_DESCRIPTIONS.signUpFields }),
  invitationLifetimeSeconds: t.int({ description: SETTING_DESCRIPTIONS.invitationLifetimeSeconds }),
  termsUrl: t.string({ description: SETTING_DESCRIPTIONS.termsUrl }),
  termsVersion: t.string({ description: SETTING_DESCRIPTIONS.termsVersion }),
  privacyUrl: t.string({ description: SETTING_DESCRIPTIONS.privacyUrl }),
  signInMethods: t.field({ type: [SignInMethodEnum], description: SETTING_DESCRIPTIONS.signInMethods }),
  offerPasskey: t.boolean({ description: SETTING_DESCRIPTIONS.offerPasskey }),
  secondFactor: t.field({ type: SecondFactorModeEnum, description: SETTING_DESCRIPTIONS.secondFactor }),
  secondFactorRoles: t.field({ type: [RoleEnum], description: SETTING_DESCRIPTIONS.secondFactorRoles }),
  recoveryWaitingTime: t.int({ description: SETTING_DESCRIPTIONS.recoveryWaitingTime }),
  ...buildSessionSettingInputs(t),
  ...buildPasscodeSettingInputs(t),
  ...buildBrandSettingInputs(t),
  textOverrides: t.field({ type: [TextOverrideInput], description: SETTING_DESCRIPTIONS.textOverrides }),
})

const UpdateTenantSettingsInput = builder.inputType('UpdateTenantSettingsInput', {
  description: 'Omitted is unchanged; null unsets, and an empty string unsets a text.',
  fields: (t) => ({
    expectedUpdatedAt: t.field({ type: 'DateTime', description: EXPECTED_UPDATED_AT_DESCRIPTION }),
    ...buildSettingsInputFields(t),
  }),
})

const TenantSettingsInput = builder.inputType('TenantSettingsInput', {
  description: 'The settings of a new tenant.',
  fields: buildSettingsInputFields,
})

const TenantSettingsPayload = builder.objectRef<{ tenant: Tenant }>('TenantSettingsPayload').implement({
  ...withPublicAccess('The tenant after the change.'),
  fields: (t) => ({ tenant: t.expose('tenant', { type: TenantRef, description: 'The changed tenant.' }) }),
})

builder.mutationField('updateTenantSettings', (t) =>
  t.field({
    ...withScope('tenant:write', 'Changes the settings of this tenant.'),
    ...toResultOptions(InvalidInput, Conflict),
    type: TenantSettingsPayload,
    args: {
      input: t.arg({
        type: UpdateTenantSettingsInput,
        required: true,
        description: 'The settings to change.',
      }),
    },
    resolve: async (_root, { input }, { ctx }) => ({ tenant: await updateSettings(ctx, input) }),
  }),
)

const CreateTenantInput = builder.inputType('CreateTenantInput', {
  description: 'A new tenant.',
  fields: (t) => ({
    slug: t.string({
      required: true,
      description:
        'Lower-case letters, digits and single hyphens, up to 63. It is part of the URLs of the tenant and never changes.',
    }),
    settings: t.field({ type: TenantSettingsInput, description: 'The initial settings.' }),
  }),
})

const CreateTenantPayload = builder.objectRef<{ tenant: Tenant }>('CreateTenantPayload').implement({
  ...withPublicAccess('The new tenant.'),
  fields: (t) => ({ tenant: t.expose('tenant', { type: TenantRef, description: 'The new tenant.' }) }),
})

builder.mutationField('createTenant', (t) =>
  t.field({
    ...markCreation(
      withScope('tenants:write', 'Creates a tenant with its signing key. Only in tenant system.'),
    ),
    ...toResultOptions(InvalidInput, Conflict),
    type: CreateTenantPayload,
    args: { input: t.arg({ type: CreateTenantInput, required: true, description: 'The new tenant.' }) },
    resolve: async (_root, { input }, { ctx }) => ({ tenant: await createTenant(ctx, input) }),
  }),
)

const DeleteTenantInput = builder.inputType('DeleteTenantInput', {
  description: 'The tenant to delete.',
  fields: (t) => ({ slug: t.id({ required: true, description: 'Its slug.' }) }),
})

const DeleteTenantPayload = builder.objectRef<{ deletedTenantId: string }>('DeleteTenantPayload').implement({
  ...withPublicAccess('The deleted tenant.'),
  fields: (t) => ({
    deletedTenantId: t.exposeID('deletedTenantId', { description: 'Slug of the deleted tenant.' }),
  }),
})

builder.mutationField('deleteTenant', (t) =>
  t.field({
    ...withScope('tenants:write', 'Deletes a tenant and all its data permanently. Only in tenant system.'),
    ...toResultOptions(NotFound),
    type: DeleteTenantPayload,
    args: { input: t.arg({ type: DeleteTenantInput, required: true, description: 'The tenant to delete.' }) },
    resolve: async (_root, { input: { slug } }, { ctx }) => {
      await deleteTenant(ctx, slug)
      return { deletedTenantId: slug }
    },
  }),
)
