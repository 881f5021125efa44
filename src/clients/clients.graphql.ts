import type { ClientTranslation } from '../core/client-translation.ts'
import { InvalidInput } from '../core/errors.ts'
import { builder, type GraphQLTypes } from '../graphql/builder.ts'
import { connectionField, defineConnectionType, PAGE_ARGS } from '../graphql/connection.ts'
import { withPublicAccess, withScope, withScopeOrOwnClient } from '../graphql/field-access.ts'
import { markCreation } from '../graphql/idempotency.ts'
import {
  ID_DESCRIPTION,
  Node,
  nullIfNotFound,
  registerNode,
  requireClientId,
} from '../graphql/node.graphql.ts'
import { toResultOptions } from '../graphql/result-options.ts'
import { SigningAlgorithmEnum } from '../keys/signing-algorithms.graphql.ts'
import type { SigningAlgorithm } from '../keys/signing-algorithms.ts'
import { findDescription } from '../schema/schema-descriptions.ts'
import { listClients } from './client-list.ts'
import { ClientTranslationInput, ClientTranslationRef } from './client-translations.graphql.ts'
import type { AppType, ClientType, RegisteredBy } from './client-types.ts'
import { type Client, createClient, getClient } from './clients.ts'
import { SecurityProfileEnum, TokenEndpointAuthMethodEnum } from './security-profile.graphql.ts'
import type { RequirableAuthMethod, SecurityProfile } from './security-profile.ts'

export const ClientAppTypeEnum = builder.enumType('ClientAppType', {
  description: 'The kind of application.',
  values: {
    SINGLE_PAGE: { value: 'single-page' as AppType, description: 'Runs in a browser; has no secret.' },
    WEB: { value: 'web' as AppType, description: 'Runs on a server; has a secret.' },
    NATIVE: { value: 'native' as AppType, description: 'Runs on a device of a person; has no secret.' },
    MACHINE: { value: 'machine' as AppType, description: 'A program that acts for itself; has a secret.' },
  },
})

const ClientTypeEnum = builder.enumType('ClientType', {
  description: 'The purpose of the client; never changes.',
  values: {
    LOGIN: { value: 'login' as ClientType, description: 'Signs people in.' },
    PAYMENT: { value: 'payment' as ClientType, description: 'Has people confirm payments.' },
  },
})

const ClientRegistrationEnum = builder.enumType('ClientRegistration', {
  description: 'Who created a client.',
  values: {
    ADMINISTRATOR: {
      value: 'administrator' as RegisteredBy,
      description: 'An administrator, or the operator.',
    },
    REGISTRATION: { value: 'registration' as RegisteredBy, description: 'It registered itself (RFC 7591).' },
    OPEN_REGISTRATION: {
      value: 'open-registration' as RegisteredBy,
      description: 'Anyone registered it, without a token (RFC 7591).',
    },
    DOCUMENT: {
      value: 'document' as RegisteredBy,
      description: 'The publisher of its metadata document: its id is the URL of the document.',
    },
  },
})

const describeField = (field: string) => findDescription('Client', field)
export const ClientRef = builder.prismaObject('Client', {
  ...withScopeOrOwnClient('clients:read', 'An application that signs users in or calls the management API.'),
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: `${ID_DESCRIPTION} Also the OAuth client_id.` }),
    name: t.exposeString('name', {}),
    description: t.exposeString('description', { nullable: true }),
    appType: t.field({
      type: ClientAppTypeEnum,
      description: 'The kind of application.',
      select: { appType: true },
      resolve: (client) => client.appType as AppType,
    }),
    themeColor: t.exposeString('themeColor', { nullable: true }),
    logoUrl: t.exposeString('logoUrl', { nullable: true }),
    clientUri: t.exposeString('clientUri', { nullable: true }),
    policyUrl: t.exposeString('policyUrl', { nullable: true }),
    termsUrl: t.exposeString('termsUrl', { nullable: true }),
    translations: t.field({
      type: [ClientTranslationRef],
      description: describeField('translations'),
      select: { translations: true },
      resolve: (client) => client.translations as ClientTranslation[],
    }),
    callbacks: t.exposeStringList('callbacks', {}),
    allowedOrigins: t.exposeStringList('allowedOrigins', {}),
    webOrigins: t.exposeStringList('webOrigins', {}),
    allowedLogoutUrls: t.exposeStringList('allowedLogoutUrls', {}),
    initiateLoginUrl: t.exposeString('initiateLoginUrl', { nullable: true }),
    tokenExpiryTime: t.exposeInt('tokenExpiryTime', { nullable: true }),
    requireConsent: t.exposeBoolean('requireConsent', {}),
    type: t.field({
      type: ClientTypeEnum,
      description: 'The purpose of the client; never changes.',
      select: { type: true },
      resolve: (client) => client.type as ClientType,
    }),
    scopes: t.exposeStringList('scopes', {}),
    jwks: t.expose('jwks', { type: 'JSONObject', nullable: true }),
    jwksUri: t.exposeString('jwksUri', { nullable: true }),
    backchannelLogoutUrl: t.exposeString('backchannelLogoutUrl', { nullable: true }),
    idTokenSigningAlg: t.field({
      type: SigningAlgorithmEnum,
      nullable: true,
      description: describeField('idTokenSigningAlg'),
      select: { idTokenSigningAlg: true },
      resolve: (client) => client.idTokenSigningAlg as SigningAlgorithm | null,
    }),
    userInfoSigningAlg: t.field({
      type: SigningAlgorithmEnum,
      nullable: true,
      description: describeField('userInfoSigningAlg'),
      select: { userInfoSigningAlg: true },
      resolve: (client) => client.userInfoSigningAlg as SigningAlgorithm | null,
    }),
    idTokenClaims: t.exposeBoolean('idTokenClaims', {}),
    profile: t.field({
      type: SecurityProfileEnum,
      nullable: true,
      description: describeField('profile'),
      select: { profile: true },
      resolve: (client) => client.profile as SecurityProfile | null,
    }),
    requirePushedRequests: t.exposeBoolean('requirePushedRequests', {}),
    requirePkce: t.exposeBoolean('requirePkce', {}),
    tokenEndpointAuthMethod: t.field({
      type: TokenEndpointAuthMethodEnum,
      nullable: true,
      description: describeField('tokenEndpointAuthMethod'),
      select: { tokenEndpointAuthMethod: true },
      resolve: (client) => client.tokenEndpointAuthMethod as RequirableAuthMethod | null,
    }),
    requireIssuerAudience: t.exposeBoolean('requireIssuerAudience', {}),
    requireFapiAlgorithms: t.exposeBoolean('requireFapiAlgorithms', {}),
    dpopBoundAccessTokens: t.exposeBoolean('dpopBoundAccessTokens', {}),
    rotateRefreshTokens: t.exposeBoolean('rotateRefreshTokens', {}),
    requireSecondFactor: t.exposeBoolean('requireSecondFactor', {}),
    defaultMaxAge: t.exposeInt('defaultMaxAge', { nullable: true }),
    resources: t.exposeStringList('resources', {}),
    registeredBy: t.field({
      type: ClientRegistrationEnum,
      description: describeField('registeredBy'),
      select: { registeredBy: true },
      resolve: (client) => client.registeredBy as RegisteredBy,
    }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime' }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
  }),
})

registerNode('client', {
  ref: ClientRef,
  scope: 'clients:read',
  load: (id, { loaders }) => loaders.client.load(id),
})

builder.queryField('client', (t) =>
  t.field({
    ...withScope('clients:read', 'A client.'),
    type: ClientRef,
    nullable: true,
    args: { id: t.arg.id({ required: true, description: 'Id of the client.' }) },
    resolve: (_root, { id }, { ctx }) => nullIfNotFound(getClient(ctx, requireClientId(id, 'id'))),
  }),
)

const ClientFilter = builder.inputType('ClientFilter', {
  description: 'Only clients that match all members.',
  fields: (t) => ({
    type: t.field({ type: ClientTypeEnum, description: 'Of this type.' }),
    appType: t.field({ type: ClientAppTypeEnum, description: 'Of this kind.' }),
  }),
})

const ClientConnection = defineConnectionType<Client>('Client', ClientRef as never)

builder.queryField('clients', (t) =>
  t.field({
    ...withScope('clients:read', 'The clients of the tenant, oldest first.'),
    ...connectionField(ClientConnection),
    args: { ...PAGE_ARGS, filter: t.arg({ type: ClientFilter, description: 'The filter.' }) },
    resolve: (_root, args, { ctx }) => listClients(ctx, args),
  }),
)

type InputFields = PothosSchemaTypes.InputFieldBuilder<GraphQLTypes, 'InputObject'>

/** Fields that creation and update share. */
export const buildClientInputFields = (t: InputFields) => ({
  description: t.string({ description: describeField('description') }),
  scopes: t.stringList({
    description: 'Management scopes that it may request, limited to those of the caller, and account.',
  }),
  themeColor: t.string({ description: describeField('themeColor') }),
  logoUrl: t.string({ description: describeField('logoUrl') }),
  clientUri: t.string({ description: describeField('clientUri') }),
  policyUrl: t.string({ description: describeField('policyUrl') }),
  termsUrl: t.string({ description: describeField('termsUrl') }),
  translations: t.field({
    type: [ClientTranslationInput],
    description: describeField('translations'),
  }),
  callbacks: t.stringList({
    description: describeField('callbacks'),
  }),
  allowedOrigins: t.stringList({ description: describeField('allowedOrigins') }),
  webOrigins: t.stringList({ description: describeField('webOrigins') }),
  allowedLogoutUrls: t.stringList({ description: describeField('allowedLogoutUrls') }),
  initiateLoginUrl: t.string({ description: describeField('initiateLoginUrl') }),
  tokenExpiryTime: t.int({ description: describeField('tokenExpiryTime') }),
  requireConsent: t.boolean({ description: describeField('requireConsent') }),
  jwks: t.field({ type: 'JSONObject', description: describeField('jwks') }),
  jwksUri: t.string({ description: describeField('jwksUri') }),
  backchannelLogoutUrl: t.string({ description: describeField('backchannelLogoutUrl') }),
  idTokenSigningAlg: t.field({ type: SigningAlgorithmEnum, description: describeField('idTokenSigningAlg') }),
  userInfoSigningAlg: t.field({
    type: SigningAlgorithmEnum,
    description: describeField('userInfoSigningAlg'),
  }),
  idTokenClaims: t.boolean({ description: describeField('idTokenClaims') }),
  profile: t.field({ type: SecurityProfileEnum, description: describeField('profile') }),
  requirePushedRequests: t.boolean({ description: describeField('requirePushedRequests') }),
  requirePkce: t.boolean({ description: describeField('requirePkce') }),
  tokenEndpointAuthMethod: t.field({
    type: TokenEndpointAuthMethodEnum,
    description: describeField('tokenEndpointAuthMethod'),
  }),
  requireIssuerAudience: t.boolean({ description: describeField('requireIssuerAudience') }),
  requireFapiAlgorithms: t.boolean({ description: describeField('requireFapiAlgorithms') }),
  dpopBoundAccessTokens: t.boolean({ description: describeField('dpopBoundAccessTokens') }),
  rotateRefreshTokens: t.boolean({ description: describeField('rotateRefreshTokens') }),
  requireSecondFactor: t.boolean({ description: describeField('requireSecondFactor') }),
  defaultMaxAge: t.int({ description: describeField('defaultMaxAge') }),
  resources: t.stringList({ description: describeField('resources') }),
})

const ClientFieldsInput = builder.inputType('ClientFieldsInput', {
  description: 'Fields of a new client. Omitted or null is unset; an empty string is no value.',
  fields: buildClientInputFields,
})

const CreateClientInput = builder.inputType('CreateClientInput', {
  description: 'A new client.',
  fields: (t) => ({
    type: t.field({ type: ClientTypeEnum, required: true, description: 'The purpose; never changes.' }),
    name: t.string({ required: true, description: 'Name shown to people.' }),
    appType: t.field({
      type: ClientAppTypeEnum,
      required: true,
      description: 'The kind of application.',
    }),
    fields: t.field({ type: ClientFieldsInput, description: 'Further fields.' }),
  }),
})

const CreateClientPayload = builder
  .objectRef<{ client: Client; secret: string | null }>('CreateClientPayload')
  .implement({
    ...withPublicAccess('The new client.'),
    fields: (t) => ({
      // Callers with the write scope alone must still get the secret.
      client: t.field({
        type: ClientRef,
        nullable: true,
        description: 'The new client; null, with an error, for callers without clients:read.',
        resolve: ({ client }) => client,
      }),
      secret: t.exposeString('secret', {
        nullable: true,
        description:
          'The client secret, which is shown only once; null for clients that authenticate without one.',
      }),
    }),
  })

builder.mutationField('createClient', (t) =>
  t.field({
    ...markCreation(withScope('clients:write', 'Creates a client.')),
    ...toResultOptions(InvalidInput),
    type: CreateClientPayload,
    args: { input: t.arg({ type: CreateClientInput, required: true, description: 'The new client.' }) },
    resolve: (_root, { input: { fields, ...required } }, { ctx }) =>
      createClient(ctx, { ...fields, ...required }),
  }),
)
