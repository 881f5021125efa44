import type { VNode } from 'preact'
import { BidiText, type PageInteraction, type PageTenant, StepForm } from '../../pages/page-shell.pages.tsx'
import { AccountShell } from './account-shell.pages.tsx'
import { Moment } from './moment.pages.tsx'

/** A passkey, an authenticator app or a set of recovery codes of the user. */
export type ShownCredential = {
  id: string
  kind: string
  /** The authenticator that keeps it, if it is known. */
  name: string | null
  createdAt: Date
  lastUsedAt: Date | null
}

type SignInMethodsPageProps = {
  tenant: PageTenant
  form: PageInteraction
  timeZone: string | null
  credentials: readonly ShownCredential[]
  /** There are more than the page shows. */
  hasMore: boolean
  /** The tenant has passkeys as a sign-in method. */
  offersPasskey: boolean
  notice?: string | null
  messages?: readonly string[]
}

const Credential = ({
  credential: { id, kind, name, createdAt, lastUsedAt },
  form,
  timeZone,
}: { credential: ShownCredential } & Pick<SignInMethodsPageProps, 'form' | 'timeZone'>): VNode => (
  <li class="message">
    <div class="row between">
      <h2>
        <BidiText>{name ?? kind}</BidiText>
      </h2>
      {name && <span class="tag">{kind}</span>}
    </div>
    <dl class="claims">
      <dt>Created</dt>
      <dd>
        <Moment at={createdAt} timeZone={timeZone} />
      </dd>
      <dt>Last used</dt>
      <dd>{lastUsedAt ? <Moment at={lastUsedAt} timeZone={timeZone} /> : 'Never'}</dd>
    </dl>
    <StepForm interaction={form} step="remove">
      <input type="hidden" name="credential" value={id} />
      <button type="submit" class="secondary" aria-label={`Remove ${name ?? kind}`}>
        Remove
      </button>
    </StepForm>
  </li>
)

/** Lists what the user signs in with. Posts `step=remove` with `credential`, or `step=create-passkey`. */
export const SignInMethodsPage = ({
  tenant,
  form,
  timeZone,
  credentials,
  hasMore,
  offersPasskey,
  ...shell
}: SignInMethodsPageProps): VNode => (
  <AccountShell
    tenant={tenant}
    title="How you sign in"
    lead="You sign in with a code that we send to you, and with these. Changes require a recent sign-in."
    {...shell}
  >
    {credentials.length === 0 ? (
      <p class="hint">You have no passkey and no authenticator app.</p>
    ) : (
      // biome-ignore lint/a11y/noRedundantRoles: VoiceOver does not announce a list without bullets as a list.
      <ul class="messages" role="list">
        {credentials.map((credential) => (
          <Credential key={credential.id} {...{ credential, form, timeZone }} />
        ))}
      </ul>
    )}
    {hasMore && <p class="hint">There are more. They appear when you remove these.</p>}
    {offersPasskey && (
      <StepForm interaction={form} step="create-passkey" class="stack">
        <button type="submit" class="primary">
          Create a passkey
        </button>
      </StepForm>
    )}
  </AccountShell>
)
