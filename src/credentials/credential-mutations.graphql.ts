import { InvalidInput, NotFound, RateLimited, UserLocked } from '../core/errors.ts'
import { builder } from '../graphql/builder.ts'
import { withPublicAccess, withScope } from '../graphql/field-access.ts'
import { markCreation } from '../graphql/idempotency.ts'
import { requireNodeId } from '../graphql/node.graphql.ts'
import { toResultOptions } from '../graphql/result-options.ts'
import { EnrollmentTokenCreate, EnrollmentTokenShape } from './credentials.fields.ts'
import { CredentialTypeEnum } from './credentials.graphql.ts'
import { revokeCredential } from './credentials.ts'
import { createCredentialEnrollmentToken, type EnrollmentLinks } from './enrollment-tokens.ts'

const { token, uri, deepLink, usableAt } = EnrollmentTokenShape.shape

export const EnrollmentTokenPayload = builder
  .objectRef<EnrollmentLinks>('CredentialEnrollmentTokenPayload')
  .implement({
    ...withPublicAccess(
      'The token was created, and its link was sent unless send is false. The token is shown only once.',
    ),
    fields: (t) => ({
      token: t.exposeString('token', { description: token.meta()?.description }),
      uri: t.exposeString('uri', { description: uri.meta()?.description }),
      deepLink: t.exposeString('deepLink', { description: deepLink.meta()?.description }),
      usableAt: t.expose('usableAt', { type: 'DateTime', description: usableAt.meta()?.description }),
    }),
  })

const CreateEnrollmentTokenInput = builder.inputType('CreateCredentialEnrollmentTokenInput', {
  description: 'Input of createCredentialEnrollmentToken.',
  fields: (t) => ({
    userId: t.id({ required: true, description: 'Id of the user who enrolls the credential.' }),
    type: t.field({
      type: CredentialTypeEnum,
      description: 'Kind of the credential; PUBLIC_KEY when omitted.',
    }),
    send: t.boolean({
      description: EnrollmentTokenCreate.shape.send.description,
    }),
  }),
})

builder.mutationField('createCredentialEnrollmentToken', (t) =>
  t.field({
    ...markCreation(
      withScope(
        'credentials:write',
        'Creates a link with which a user enrolls a credential, once, within 24 hours. It invalidates earlier links.',
      ),
    ),
    ...toResultOptions(InvalidInput, NotFound, UserLocked, RateLimited),
    type: EnrollmentTokenPayload,
    args: {
      input: t.arg({
        type: CreateEnrollmentTokenInput,
        required: true,
        description: 'The user who enrolls.',
      }),
    },
    resolve: (_root, { input: { userId, ...input } }, { ctx }) =>
      createCredentialEnrollmentToken(ctx, requireNodeId('user', userId, 'userId'), input),
  }),
)

const RevokeCredentialPayload = builder
  .objectRef<{ revokedCredentialId: string }>('RevokeCredentialPayload')
  .implement({
    ...withPublicAccess('The credential was deleted.'),
    fields: (t) => ({
      revokedCredentialId: t.exposeID('revokedCredentialId', {
        description: 'Id of the deleted credential.',
      }),
    }),
  })

const RevokeCredentialInput = builder.inputType('RevokeCredentialInput', {
  description: 'Input of revokeCredential.',
  fields: (t) => ({ credentialId: t.id({ required: true, description: 'Id of the credential.' }) }),
})

builder.mutationField('revokeCredential', (t) =>
  t.field({
    ...withScope(
      'credentials:write',
      'Revokes a credential permanently. Sessions stay active; revokeUserSessions ends them.',
    ),
    ...toResultOptions(InvalidInput, NotFound),
    type: RevokeCredentialPayload,
    args: {
      input: t.arg({ type: RevokeCredentialInput, required: true, description: 'The credential.' }),
    },
    resolve: (_root, { input }, { ctx }) =>
      revokeCredential(ctx, requireNodeId('cred', input.credentialId, 'credentialId')),
  }),
)
