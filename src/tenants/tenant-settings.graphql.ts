import type { Role } from '../core/scopes.ts'
import { type SecondFactorMode, SIGN_IN_METHODS, type SignInMethodName } from '../core/sign-in-methods.ts'
import type { SignUpFieldSetting, SignUpMode } from '../core/sign-up.ts'
import type { TextOverride } from '../core/text-override.ts'
import { builder, type GraphQLTypes } from '../graphql/builder.ts'
import { withScope } from '../graphql/field-access.ts'
import { RoleEnum } from '../graphql/roles.graphql.ts'
import { findDescription } from '../schema/schema-descriptions.ts'
import { buildBrandSettingFields, buildBrandSettingInputs } from './brand-settings.graphql.ts'
import { buildPasscodeSettingFields, buildPasscodeSettingInputs } from './passcode-settings.graphql.ts'
import { buildSessionSettingFields, buildSessionSettingInputs } from './session-settings.graphql.ts'
import type { toSettings } from './settings.ts'
import { SignUpEnum, SignUpFieldInput, SignUpFieldRef } from './sign-up.graphql.ts'
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
  openRegistration: findDescription('Tenant', 'openRegistration'),
  defaultScopes: findDescription('Tenant', 'defaultScopes'),
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

export const TenantSettings = builder.objectRef<ReturnType<typeof toSettings>>('TenantSettings').implement({
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
    defaultScopes: t.exposeStringList('defaultScopes', {
      description: SETTING_DESCRIPTIONS.defaultScopes,
    }),
    openRegistration: t.exposeBoolean('openRegistration', {
      description: SETTING_DESCRIPTIONS.openRegistration,
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

export const buildSettingsInputFields = (t: InputFields) => ({
  friendlyName: t.string({ description: SETTING_DESCRIPTIONS.friendlyName }),
  logoUrl: t.string({ description: SETTING_DESCRIPTIONS.logoUrl }),
  defaultAudience: t.string({ description: SETTING_DESCRIPTIONS.defaultAudience }),
  loginUrl: t.string({ description: SETTING_DESCRIPTIONS.loginUrl }),
  supportUrl: t.string({ description: SETTING_DESCRIPTIONS.supportUrl }),
  defaultLocale: t.string({ description: SETTING_DESCRIPTIONS.defaultLocale }),
  dynamicRegistration: t.boolean({ description: SETTING_DESCRIPTIONS.dynamicRegistration }),
  clientIdMetadataDocuments: t.boolean({ description: SETTING_DESCRIPTIONS.clientIdMetadataDocuments }),
  defaultScopes: t.stringList({ description: SETTING_DESCRIPTIONS.defaultScopes }),
  openRegistration: t.boolean({ description: SETTING_DESCRIPTIONS.openRegistration }),
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
