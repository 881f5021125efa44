import * as z from 'zod'
import { defineEnum } from '../schema/enums.ts'
import { toAnswerText } from '../schema/formats.ts'
import { boolean, optional, text } from '../schema/input-shapes.ts'
import { createIdShape, instantShape } from '../schema/response-shapes.ts'

const DELIVERY = defineEnum('SignalDelivery', 'How a receiver gets events.', {
  push: 'They are pushed to its URL (RFC 8935).',
  poll: 'It polls them (RFC 8936).',
})

const STATUS = defineEnum('SignalStreamStatus', 'The state of a stream.', {
  enabled: 'Events are sent.',
  paused: 'Events wait until it is enabled.',
  disabled: 'Events are dropped.',
})

const MODEL = { model: 'SignalStream' }

/** Input of updateSignalStream. */
export const SignalStreamPatch = z
  .strictObject(
    {
      status: STATUS.shape.optional().meta({ description: 'The new state.', example: 'paused' }),
      statusReason: optional(text(500)).meta({
        description: 'Why, for the receiver.',
        example: 'Maintenance',
      }),
      allUsers: boolean.optional().meta({
        description:
          'Whether it has the events of all users, not of those alone who use the client. True requires scope events:read too.',
        example: false,
      }),
    },
    'must be an object',
  )
  .meta({ id: 'SignalStreamPatch', ...MODEL })

/** Input of verifySignalStream. */
export const SignalStreamVerification = z
  .strictObject({}, 'must be an object')
  .meta({ id: 'SignalStreamVerification', description: 'It has no members.' })

/** A stream of shared signals in REST responses. */
export const SignalStreamShape = z
  .object({
    id: createIdShape('stream').meta({ description: 'Id of the stream.' }),
    clientId: createIdShape('client'),
    delivery: DELIVERY.shape.meta({ description: 'push or poll.', example: 'push' }),
    url: toAnswerText(text()).nullable().meta({ example: 'https://shop.example/signals' }),
    description: z.string().nullable().meta({ example: 'Shop' }),
    eventsRequested: z.array(z.string()).meta({
      example: ['https://schemas.openid.net/secevent/caep/event-type/session-revoked'],
    }),
    allUsers: z.boolean().meta({ example: false }),
    status: STATUS.shape.meta({ description: 'enabled, paused or disabled.', example: 'enabled' }),
    statusReason: z.string().nullable().meta({ example: null }),
    failingSince: instantShape.nullable().meta({ example: null }),
    lastError: z.string().nullable().meta({ example: null }),
    acceptedAt: instantShape.nullable(),
    verifiedAt: instantShape.nullable().meta({ example: null }),
    position: z.string().meta({ example: 'MS43NDIuMQ' }),
    updatedAt: instantShape,
    createdAt: instantShape,
  })
  .meta({ id: 'SignalStream', ...MODEL })
