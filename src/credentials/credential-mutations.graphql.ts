import { InvalidInput, NotFound, RateLimited, UserLocked } from '../errors.ts'
import { builder } from '../graphql/builder.ts'
import { creation } from '../graphql/idempotency.ts'
import { requireId } from '../graphql/node.graphql.ts'
import { resultOf } from '../graphql/result.ts'
import { open, scoped } from '../graphql/scoped.ts'
import { EnrollmentTokenCreate, EnrollmentTokenShape } from './credentials.fields.ts'
import { CredentialTypeEnum } from './credentials.graphql.ts'
import { revokeCredential } from './credentials.ts'
import { createCredentialEnrollmentToken, type EnrollmentLinks } from './enrolment-tokens.ts'

const { token, uri, deepLink } = EnrollmentTokenShape.shape

export const EnrollmentTokenPayload = builder
  .objectRef<EnrollmentLinks>('CredentialEnrollmentTokenPayload')
  .implement({
    ...open(
      'The token was made, and its link was sent unless told not to. It is shown here and nowhere else.',
    ),
    fields: (t) => ({
      token: t.exposeString('token', { description: token.meta()?.description }),
      uri: t.exposeString('uri', { description: uri.meta()?.description }),
      deepLink: t.exposeString('deepLink', { description: deepLink.meta()?.description }),
    }),
  })

const CreateEnrollmentTokenInput = builder.inputType('CreateCredentialEnrollmentTokenInput', {
  description: 'Input of createCredentialEnrollmentToken.',
  fields: (t) => ({
    userId: t.id({ required: true, description: 'Id of the user who shall enrol.' }),
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
    ...creation(
      scoped(
        'credentials:write',
        'Makes a link with which a user enrols a credential, once, within 24 hours; it voids those before it.',
      ),
    ),
    ...resultOf(InvalidInput, NotFound, UserLocked, RateLimited),
    type: EnrollmentTokenPayload,
    args: {
      input: t.arg({ type: CreateEnrollmentTokenInput, required: true, description: 'Who shall enrol.' }),
    },
    resolve: (_root, { input: { userId, ...input } }, { ctx }) =>
      createCredentialEnrollmentToken(ctx, requireId('user', userId, 'userId'), input),
  }),
)

const RevokeCredentialPayload = builder
  .objectRef<{ revokedCredentialId: string }>('RevokeCredentialPayload')
  .implement({
    ...open('The credential is gone.'),
    fields: (t) => ({
      revokedCredentialId: t.exposeID('revokedCredentialId', { description: 'Id that the credential had.' }),
    }),
  })

const RevokeCredentialInput = builder.inputType('RevokeCredentialInput', {
  description: 'Input of revokeCredential.',
  fields: (t) => ({ credentialId: t.id({ required: true, description: 'Id of the credential.' }) }),
})

builder.mutationField('revokeCredential', (t) =>
  t.field({
    ...scoped(
      'credentials:write',
      'Revokes a credential, for ever. Sessions stay: revokeUserSessions ends them.',
    ),
    ...resultOf(InvalidInput, NotFound),
    type: RevokeCredentialPayload,
    args: {
      input: t.arg({ type: RevokeCredentialInput, required: true, description: 'Which credential.' }),
    },
    resolve: (_root, { input }, { ctx }) =>
      revokeCredential(ctx, requireId('cred', input.credentialId, 'credentialId')),
  }),
)
