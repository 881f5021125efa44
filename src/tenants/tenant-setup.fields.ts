import * as z from 'zod'
import { defineEnum } from '../schema/enums.ts'
import { instantShape } from '../schema/response-shapes.ts'

const ITEM = defineEnum('TenantSetupItem', 'What a tenant needs before people use it.', {
  'mail-server': 'The deployment has a mail server (SMTP_URL), or the tenant has one.',
  'own-mail-server': 'The mail server of the tenant, if it has one, accepts mail.',
  'own-sms-gateway': 'The gateway for text messages of the tenant, if it has one, accepts messages.',
  administrator: 'A user with role admin who is not locked.',
  application: 'A client besides the console.',
  logo: 'The setting logoUrl.',
  support: 'The setting supportUrl, where people find help.',
  terms: 'The setting termsUrl, while people can sign up.',
  'signing-key': 'Signing keys that are not due for rotation; the rotation is automatic.',
})

const SetupStep = z
  .object({
    item: ITEM.shape.meta({ description: 'What is needed.', example: 'administrator' }),
    done: z.boolean().meta({ description: 'Whether the tenant has it.', example: false }),
    dueAt: instantShape.nullable().meta({
      description: 'When it has to be done again, or had to be; null for what is done once.',
      example: null,
    }),
  })
  .meta({ id: 'TenantSetupStep', description: 'Something that a tenant needs, and whether it has it.' })
export type SetupStep = z.output<typeof SetupStep>

/** The steps of the setup of a tenant. */
export const TenantSetupShape = z
  .object({
    setup: z.array(SetupStep).meta({ description: 'The steps that apply to the tenant, in their order.' }),
  })
  .meta({ id: 'TenantSetup', description: 'What a tenant needs before people use it.' })
