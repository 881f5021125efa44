import { descriptionOf } from '../descriptions.ts'
import { InvalidInput } from '../errors.ts'
import { builder, type GraphQLTypes } from '../graphql/builder.ts'
import { connectionType, listOf, PAGE_ARGS } from '../graphql/connection.ts'
import { creation } from '../graphql/idempotency.ts'
import { ID_DESCRIPTION, Node, orNull, registerNode, requireClientId } from '../graphql/node.graphql.ts'
import { resultOf } from '../graphql/result.ts'
import { open, scoped, scopedOrOwn } from '../graphql/scoped.ts'
import { SIGNING_ALGORITHMS, type SigningAlgorithm } from '../signing-algorithms.ts'
import { listClients } from './client-list.ts'
import type { AppType, ClientType, RegisteredBy } from './client-types.ts'
import { type Client, createClient, getClient } from './clients.ts'

export const ClientAppTypeEnum = builder.enumType('ClientAppType', {
  description: 'What kind of application it is.',
  values: {
    SINGLE_PAGE: { value: 'single-page' as AppType, description: 'Runs in a browser; has no secret.' },
    WEB: { value: 'web' as AppType, description: 'Runs on a server; has a secret.' },
    NATIVE: { value: 'native' as AppType, description: 'Runs on a device of a person; has no secret.' },
    MACHINE: { value: 'machine' as AppType, description: 'A program that acts for itself; has a secret.' },
  },
})

const ClientTypeEnum = builder.enumType('ClientType', {
  description: 'What the client is for; never changes.',
  values: {
    LOGIN: { value: 'login' as ClientType, description: 'Signs people in.' },
    PAYMENT: { value: 'payment' as ClientType, description: 'Has people confirm payments.' },
  },
})

const ClientRegistrationEnum = builder.enumType('ClientRegistration', {
  description: 'Who made a client.',
  values: {
    ADMINISTRATOR: {
      value: 'administrator' as RegisteredBy,
      description: 'An administrator, or the operator.',
    },
    REGISTRATION: { value: 'registration' as RegisteredBy, description: 'It registered itself (RFC 7591).' },
    DOCUMENT: {
      value: 'document' as RegisteredBy,
      description: 'Nobody here: its id is the URL of the document that says what it is.',
    },
  },
})

const words = (field: string) => descriptionOf('Client', field)

export const SigningAlgorithmEnum = builder.enumType('SigningAlgorithm', {
  description: 'A JWS algorithm (RFC 7518, RFC 8037).',
  values: Object.fromEntries(
    SIGNING_ALGORITHMS.map((alg) => [alg.toUpperCase(), { value: alg, description: `alg=${alg}.` }]),
  ) as Record<Uppercase<SigningAlgorithm>, { value: SigningAlgorithm; description: string }>,
})

export const ClientRef = builder.prismaObject('Client', {
  ...scopedOrOwn(
    'clients:read',
    'An application that signs people in or calls the management surface.',
    (client: { id: string }) => client.id,
  ),
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: `${ID_DESCRIPTION} Also the OAuth client_id.` }),
    name: t.exposeString('name', {}),
    description: t.exposeString('description', { nullable: true }),
    appType: t.field({
      type: ClientAppTypeEnum,
      description: 'What kind of application it is.',
      select: { appType: true },
      resolve: (client) => client.appType as AppType,
    }),
    themeColor: t.exposeString('themeColor', { nullable: true }),
    logoUrl: t.exposeString('logoUrl', { nullable: true }),
    callbacks: t.exposeStringList('callbacks', {}),
    allowedOrigins: t.exposeStringList('allowedOrigins', {}),
    webOrigins: t.exposeStringList('webOrigins', {}),
    allowedLogoutUrls: t.exposeStringList('allowedLogoutUrls', {}),
    initiateLoginUrl: t.exposeString('initiateLoginUrl', { nullable: true }),
    tokenExpiryTime: t.exposeInt('tokenExpiryTime', { nullable: true }),
    requireConsent: t.exposeBoolean('requireConsent', {}),
    type: t.field({
      type: ClientTypeEnum,
      description: 'What the client is for; never changes.',
      select: { type: true },
      resolve: (client) => client.type as ClientType,
    }),
    scopes: t.exposeStringList('scopes', {}),
    jwks: t.expose('jwks', { type: 'JSONObject', nullable: true }),
    backchannelLogoutUrl: t.exposeString('backchannelLogoutUrl', { nullable: true }),
    idTokenSigningAlg: t.field({
      type: SigningAlgorithmEnum,
      nullable: true,
      description: words('idTokenSigningAlg'),
      select: { idTokenSigningAlg: true },
      resolve: (client) => client.idTokenSigningAlg as SigningAlgorithm | null,
    }),
    userInfoSigningAlg: t.field({
      type: SigningAlgorithmEnum,
      nullable: true,
      description: words('userInfoSigningAlg'),
      select: { userInfoSigningAlg: true },
      resolve: (client) => client.userInfoSigningAlg as SigningAlgorithm | null,
    }),
    requirePushedRequests: t.exposeBoolean('requirePushedRequests', {}),
    resources: t.exposeStringList('resources', {}),
    registeredBy: t.field({
      type: ClientRegistrationEnum,
      description: words('registeredBy'),
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
    ...scoped('clients:read', 'One client.'),
    type: ClientRef,
    nullable: true,
    args: { id: t.arg.id({ required: true, description: 'Id of the client.' }) },
    resolve: (_root, { id }, { ctx }) => orNull(getClient(ctx, requireClientId(id, 'id'))),
  }),
)

const ClientFilter = builder.inputType('ClientFilter', {
  description: 'Only clients that are all of this.',
  fields: (t) => ({
    type: t.field({ type: ClientTypeEnum, description: 'Of this type.' }),
    appType: t.field({ type: ClientAppTypeEnum, description: 'Of this kind.' }),
  }),
})

const ClientConnection = connectionType<Client>('Client', ClientRef as never)

builder.queryField('clients', (t) =>
  t.field({
    ...scoped('clients:read', 'The clients of the tenant, oldest first.'),
    ...listOf(ClientConnection),
    args: { ...PAGE_ARGS, filter: t.arg({ type: ClientFilter, description: 'Which clients.' }) },
    resolve: (_root, args, { ctx }) => listClients(ctx, args),
  }),
)

type InputFields = PothosSchemaTypes.InputFieldBuilder<GraphQLTypes, 'InputObject'>

/** What creations and changes have in common. */
export const clientInputFields = (t: InputFields) => ({
  description: t.string({ description: words('description') }),
  scopes: t.stringList({
    description: 'Management scopes that it may ask for; only such as the caller has.',
  }),
  themeColor: t.string({ description: words('themeColor') }),
  logoUrl: t.string({ description: words('logoUrl') }),
  callbacks: t.stringList({
    description: words('callbacks'),
  }),
  allowedOrigins: t.stringList({ description: words('allowedOrigins') }),
  webOrigins: t.stringList({ description: words('webOrigins') }),
  allowedLogoutUrls: t.stringList({ description: words('allowedLogoutUrls') }),
  initiateLoginUrl: t.string({ description: words('initiateLoginUrl') }),
  tokenExpiryTime: t.int({ description: words('tokenExpiryTime') }),
  requireConsent: t.boolean({ description: words('requireConsent') }),
  jwks: t.field({ type: 'JSONObject', description: words('jwks') }),
  backchannelLogoutUrl: t.string({ description: words('backchannelLogoutUrl') }),
  idTokenSigningAlg: t.field({ type: SigningAlgorithmEnum, description: words('idTokenSigningAlg') }),
  userInfoSigningAlg: t.field({ type: SigningAlgorithmEnum, description: words('userInfoSigningAlg') }),
  requirePushedRequests: t.boolean({ description: words('requirePushedRequests') }),
  resources: t.stringList({ description: words('resources') }),
})

const ClientFieldsInput = builder.inputType('ClientFieldsInput', {
  description: 'Fields of a client. Omitted is unchanged; an empty string or null unsets.',
  fields: clientInputFields,
})

const CreateClientInput = builder.inputType('CreateClientInput', {
  description: 'A new client.',
  fields: (t) => ({
    type: t.field({ type: ClientTypeEnum, required: true, description: 'What it is for; never changes.' }),
    name: t.string({ required: true, description: 'Name shown to people.' }),
    appType: t.field({
      type: ClientAppTypeEnum,
      required: true,
      description: 'What kind of application it is.',
    }),
    fields: t.field({ type: ClientFieldsInput, description: 'Everything else.' }),
  }),
})

const CreateClientPayload = builder
  .objectRef<{ client: Client; secret: string | null }>('CreateClientPayload')
  .implement({
    ...open('The new client.'),
    fields: (t) => ({
      // Who may only write must still get the secret.
      client: t.field({
        type: ClientRef,
        nullable: true,
        description: 'The new client; null, with an error, for callers without clients:read.',
        resolve: ({ client }) => client,
      }),
      secret: t.exposeString('secret', {
        nullable: true,
        description: 'Its secret, told here and nowhere else; null for single-page and native clients.',
      }),
    }),
  })

builder.mutationField('createClient', (t) =>
  t.field({
    ...creation(scoped('clients:write', 'Creates a client.')),
    ...resultOf(InvalidInput),
    type: CreateClientPayload,
    args: { input: t.arg({ type: CreateClientInput, required: true, description: 'The new client.' }) },
    resolve: (_root, { input: { fields, ...required } }, { ctx }) =>
      createClient(ctx, { ...fields, ...required }),
  }),
)
