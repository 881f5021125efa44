import * as z from 'zod'
import type { Ctx } from '../context/context.ts'
import { Conflict, InvalidInput } from '../core/errors.ts'
import { issuerOf } from '../core/issuer.ts'
import { createEvent } from '../events/create-event.ts'
import { recordEvents } from '../events/log.ts'
import { text } from '../schema/input-shapes.ts'
import { type Receiver, readStreamId } from './stream-management.ts'
import { changeStream } from './streams.ts'

/** Users whom one stream leaves out. */
const MAX_LEFT_OUT = 10_000

const word = text(500)
const IssSub = z.object({ format: z.literal('iss_sub'), iss: word, sub: word })
/** The subjects that name a user (RFC 9493, section 3; SSF 1.0, section 3.1). */
const Subject = z.union([
  IssSub,
  z.object({ format: z.literal('email'), email: word }),
  z.object({ format: z.literal('opaque'), id: word }),
  z.object({ format: z.literal('complex'), user: IssSub }),
])
type NamedSubject = z.output<typeof Subject>

/** Finds the user of a subject; null for none, and for a subject of another issuer. */
async function findSubjectUser({ db, tenant }: Ctx, subject: NamedSubject): Promise<string | null> {
  const named = subject.format === 'complex' ? subject.user : subject
  if (named.format === 'iss_sub' && named.iss !== issuerOf(tenant)) return null
  const where =
    named.format === 'email'
      ? { emailKey: named.email.toLowerCase(), emailVerified: true }
      : { id: named.format === 'opaque' ? named.id : named.sub }
  const user = await db.prisma.user.findFirst({ where: { tenantId: tenant, ...where }, select: { id: true } })
  return user?.id ?? null
}

/**
 * Leaves a user out of a stream, or has the user again (SSF 1.0, section 8.1.3). The answer is the same for an unknown user
 * and for one who does not use the client, about whom the stream has nothing in any case. Throws InvalidInput, NotFound and
 * Conflict.
 */
export async function changeSubject(
  { ctx, clientId }: Receiver,
  body: unknown,
  { included }: { included: boolean },
): Promise<void> {
  const streamId = readStreamId(body)
  const { data: subject } = Subject.safeParse((body as { subject?: unknown }).subject)
  if (!subject)
    throw new InvalidInput([
      {
        field: 'subject',
        description: 'must be of the format iss_sub, email, opaque or complex with a user',
      },
    ])
  await changeStream(ctx, streamId, clientId, async (tx) => {
    const userId = await findSubjectUser(ctx, subject)
    if (userId === null) return
    const { signalSubject } = tx.prisma
    const ofStream = { tenantId: ctx.tenant, streamId }
    if (included) {
      const { count } = await signalSubject.deleteMany({ where: { ...ofStream, userId } })
      if (count === 0) return
    } else {
      if ((await signalSubject.count({ where: { ...ofStream, included: false } })) >= MAX_LEFT_OUT)
        throw new Conflict([], `A stream leaves out at most ${MAX_LEFT_OUT} users.`)
      const row = { ...ofStream, userId, included: false, expiresAt: null }
      const { count } = await signalSubject.createMany({ data: [row], skipDuplicates: true })
      if (count === 0) return
    }
    const about = { signalStreamId: streamId, clientId, userId }
    await recordEvents(tx, ctx, [createEvent('signal_stream.subject_changed', about, { included })])
  })
}
