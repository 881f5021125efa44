import type { ClientTranslation } from '../core/client-translation.ts'
import { builder } from '../graphql/builder.ts'
import { withPublicAccess } from '../graphql/field-access.ts'
import { TRANSLATION_DESCRIPTION, TRANSLATION_DESCRIPTIONS } from './client-translations.fields.ts'

export const ClientTranslationRef = builder.objectRef<ClientTranslation>('ClientTranslation').implement({
  ...withPublicAccess(TRANSLATION_DESCRIPTION),
  fields: (t) => ({
    locale: t.exposeString('locale', { description: TRANSLATION_DESCRIPTIONS.locale }),
    name: t.exposeString('name', { nullable: true, description: TRANSLATION_DESCRIPTIONS.name }),
    logoUrl: t.exposeString('logoUrl', { nullable: true, description: TRANSLATION_DESCRIPTIONS.logoUrl }),
    policyUrl: t.exposeString('policyUrl', {
      nullable: true,
      description: TRANSLATION_DESCRIPTIONS.policyUrl,
    }),
    termsUrl: t.exposeString('termsUrl', { nullable: true, description: TRANSLATION_DESCRIPTIONS.termsUrl }),
  }),
})

export const ClientTranslationInput = builder.inputType('ClientTranslationInput', {
  description: TRANSLATION_DESCRIPTION,
  fields: (t) => ({
    locale: t.string({ description: TRANSLATION_DESCRIPTIONS.locale }),
    name: t.string({ description: TRANSLATION_DESCRIPTIONS.name }),
    logoUrl: t.string({ description: TRANSLATION_DESCRIPTIONS.logoUrl }),
    policyUrl: t.string({ description: TRANSLATION_DESCRIPTIONS.policyUrl }),
    termsUrl: t.string({ description: TRANSLATION_DESCRIPTIONS.termsUrl }),
  }),
})
