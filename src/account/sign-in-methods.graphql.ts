import { Conflict, InvalidInput, NotFound, RateLimited, UserLocked } from '../core/errors.ts'
import { EnrollmentTokenPayload } from '../credentials/credential-mutations.graphql.ts'
import { CredentialTypeEnum } from '../credentials/credentials.graphql.ts'
import { builder } from '../graphql/builder.ts'
import { withAccountScope, withPublicAccess } from '../graphql/field-access.ts'
import { requireNodeId } from '../graphql/node.graphql.ts'
import { toResultOptions } from '../graphql/result-options.ts'
import { buildLinkInputFields, IdpUserPayload } from '../idps/idp-users.graphql.ts'
import { requireIdpId } from '../idps/idps.graphql.ts'
import {
  createViewerEnrollmentToken,
  linkViewerIdpUser,
  revokeViewerCredential,
  unlinkViewerIdpUser,
} from './sign-in-methods.ts'
import { STEP_UP_DESCRIPTION } from './step-up.ts'

const CreateViewerEnrollmentTokenInput = builder.inputType('CreateViewerEnrollmentTokenInput', {
  description: 'Input of createViewerEnrollmentToken.',
  fields: (t) => ({
    type: t.field({
      type: CredentialTypeEnum,
      description: 'Kind of the credential; PUBLIC_KEY when omitted.',
    }),
  }),
})

builder.mutationField('createViewerEnrollmentToken', (t) =>
  t.field({
    ...withAccountScope(
      `Creates a link with which the calling user creates one passkey within 24 hours. ${STEP_UP_DESCRIPTION}`,
    ),
    ...toResultOptions(InvalidInput, UserLocked),
    type: EnrollmentTokenPayload,
    args: {
      input: t.arg({
        type: CreateViewerEnrollmentTokenInput,
        required: true,
        description: 'The kind of credential.',
      }),
    },
    resolve: (_root, { input }, { ctx }) => createViewerEnrollmentToken(ctx, input),
  }),
)

const RevokeViewerCredentialPayload = builder
  .objectRef<{ revokedCredentialId: string }>('RevokeViewerCredentialPayload')
  .implement({
    ...withPublicAccess('The credential is revoked.'),
    fields: (t) => ({
      revokedCredentialId: t.exposeID('revokedCredentialId', {
        description: 'Id of the revoked credential.',
      }),
    }),
  })

const RevokeViewerCredentialInput = builder.inputType('RevokeViewerCredentialInput', {
  description: 'Input of revokeViewerCredential.',
  fields: (t) => ({ credentialId: t.id({ required: true, description: 'Id of the credential.' }) }),
})

builder.mutationField('revokeViewerCredential', (t) =>
  t.field({
    ...withAccountScope(
      `Revokes a credential of the calling user, who must have a verified address unless it is a second factor. ${STEP_UP_DESCRIPTION}`,
    ),
    ...toResultOptions(InvalidInput, NotFound),
    type: RevokeViewerCredentialPayload,
    args: {
      input: t.arg({ type: RevokeViewerCredentialInput, required: true, description: 'The credential.' }),
    },
    resolve: (_root, { input: { credentialId } }, { ctx }) =>
      revokeViewerCredential(ctx, requireNodeId('cred', credentialId, 'credentialId')),
  }),
)

const UnlinkViewerIdpUserPayload = builder
  .objectRef<{ unlinkedIdpUserId: string }>('UnlinkViewerIdpUserPayload')
  .implement({
    ...withPublicAccess('The link is deleted.'),
    fields: (t) => ({
      unlinkedIdpUserId: t.exposeID('unlinkedIdpUserId', { description: 'Id of the deleted link.' }),
    }),
  })

const UnlinkViewerIdpUserInput = builder.inputType('UnlinkViewerIdpUserInput', {
  description: 'Input of unlinkViewerIdpUser.',
  fields: (t) => ({ idpId: t.id({ required: true, description: 'Id of the identity provider.' }) }),
})

builder.mutationField('unlinkViewerIdpUser', (t) =>
  t.field({
    ...withAccountScope(
      `Deletes the link of the calling user to an identity provider; the user must have a verified address. ${STEP_UP_DESCRIPTION}`,
    ),
    ...toResultOptions(InvalidInput, NotFound),
    type: UnlinkViewerIdpUserPayload,
    args: { input: t.arg({ type: UnlinkViewerIdpUserInput, required: true, description: 'The provider.' }) },
    resolve: (_root, { input: { idpId } }, { ctx }) => unlinkViewerIdpUser(ctx, requireIdpId(idpId, 'idpId')),
  }),
)

/**
 * Without accessToken: most providers do not name the client that an access token was issued to, so a token
 * of any other site that the user signed in to would be accepted.
 */
const LinkViewerIdpUserInput = builder.inputType('LinkViewerIdpUserInput', {
  description:
    'The identity provider, and either idToken or code. The proof is verified with the provider before anything is stored.',
  fields: (t) => {
    const { accessToken: _, ...fields } = buildLinkInputFields(t)
    return fields
  },
})

builder.mutationField('linkViewerIdpUser', (t) =>
  t.field({
    ...withAccountScope(
      `Links the calling user to the identity that the proof shows. ${STEP_UP_DESCRIPTION}`,
    ),
    ...toResultOptions(InvalidInput, Conflict, NotFound, RateLimited),
    type: IdpUserPayload,
    args: { input: t.arg({ type: LinkViewerIdpUserInput, required: true, description: 'The proof.' }) },
    resolve: async (_root, { input: { idpId, ...proof } }, { ctx }) => ({
      idpUser: await linkViewerIdpUser(ctx, requireIdpId(idpId, 'idpId'), proof),
    }),
  }),
)
