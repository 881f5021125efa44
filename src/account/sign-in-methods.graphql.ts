import { Conflict, InvalidInput, NotFound, RateLimited, UserLocked } from '../core/errors.ts'
import { EnrollmentTokenPayload } from '../credentials/credential-mutations.graphql.ts'
import { CredentialTypeEnum } from '../credentials/credentials.graphql.ts'
import { builder } from '../graphql/builder.ts'
import { withAccountScope } from '../graphql/field-access.ts'
import { toResultOptions } from '../graphql/result-options.ts'
import { buildLinkInputFields, IdpUserPayload } from '../idps/idp-users.graphql.ts'
import { requireIdpId } from '../idps/idps.graphql.ts'
import { createViewerEnrollmentToken, linkViewerIdpUser } from './sign-in-methods.ts'
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
