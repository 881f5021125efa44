import type { TextOverride } from '../core/text-override.ts'
import { builder } from '../graphql/builder.ts'
import { withPublicAccess } from '../graphql/field-access.ts'
import { OVERRIDE_DESCRIPTION, OVERRIDE_DESCRIPTIONS } from './text-overrides.fields.ts'

export const TextOverrideRef = builder.objectRef<TextOverride>('TextOverride').implement({
  ...withPublicAccess(OVERRIDE_DESCRIPTION),
  fields: (t) => ({
    locale: t.exposeString('locale', { description: OVERRIDE_DESCRIPTIONS.locale }),
    key: t.exposeString('key', { description: OVERRIDE_DESCRIPTIONS.key }),
    text: t.exposeString('text', { description: OVERRIDE_DESCRIPTIONS.text }),
  }),
})

export const TextOverrideInput = builder.inputType('TextOverrideInput', {
  description: OVERRIDE_DESCRIPTION,
  fields: (t) => ({
    locale: t.string({ description: OVERRIDE_DESCRIPTIONS.locale }),
    key: t.string({ description: OVERRIDE_DESCRIPTIONS.key }),
    text: t.string({ description: OVERRIDE_DESCRIPTIONS.text }),
  }),
})
