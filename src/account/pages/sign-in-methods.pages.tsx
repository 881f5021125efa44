import type { VNode } from 'preact'
import type { CredentialType } from '../../core/credential-types.ts'
import { BidiText, type PageInteraction, type PageTenant, StepForm } from '../../pages/page-shell.pages.tsx'
import { AccountShell } from './account-shell.pages.tsx'
import { Moment } from './moment.pages.tsx'

/** A passkey, an authenticator app or a set of recovery codes of the user. */
export type ShownCredential = {
  id: string
  type: CredentialType
  kind: string
  /** The authenticator that keeps it, if it is known. */
  name: string | null
  createdAt: Date
  lastUsedAt: Date | null
}

/** An account at an identity provider, which is linked to the user's. */
export type ShownIdentity = { idpId: string; provider: string; account: string | null; linkedAt: Date }

type SignInMethodsPageProps = {
  tenant: PageTenant
  form: PageInteraction
  timeZone: string | null
  credentials: readonly ShownCredential[]
  /** There are more than the page shows. */
  hasMore: boolean
  /** Accounts elsewhere that sign in here. */
  identities: readonly ShownIdentity[]
  /** What the tenant accepts. */
  offers: { code: boolean; passkey: boolean; app: boolean }
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

const Identity = ({
  identity: { idpId, provider, account, linkedAt },
  form,
  timeZone,
}: { identity: ShownIdentity } & Pick<SignInMethodsPageProps, 'form' | 'timeZone'>): VNode => (
  <li class="message">
    <div class="row between">
      <h2>
        <BidiText>{provider}</BidiText>
      </h2>
      <span class="tag">Linked account</span>
    </div>
    <dl class="claims">
      {account && <dt>Account</dt>}
      {account && (
        <dd>
          <BidiText>{account}</BidiText>
        </dd>
      )}
      <dt>Linked</dt>
      <dd>
        <Moment at={linkedAt} timeZone={timeZone} />
      </dd>
    </dl>
    <StepForm interaction={form} step="unlink">
      <input type="hidden" name="idp" value={idpId} />
      <button type="submit" class="secondary" aria-label={`Unlink ${provider}`}>
        Unlink
      </button>
    </StepForm>
  </li>
)

/**
 * Lists what the user signs in with. Posts `step=remove` with `credential`, `step=unlink` with `idp`, or
 * `step=create-passkey`.
 */
export const SignInMethodsPage = ({
  tenant,
  form,
  timeZone,
  credentials,
  hasMore,
  identities,
  offers,
  ...shell
}: SignInMethodsPageProps): VNode => (
  <AccountShell
    tenant={tenant}
    title="How you sign in"
    lead={
      offers.code
        ? 'You sign in with a code that we send to you, and with these. Changes require a recent sign-in.'
        : 'You sign in with these. Changes require a recent sign-in.'
    }
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
    {identities.length > 0 && (
      // biome-ignore lint/a11y/noRedundantRoles: VoiceOver does not announce a list without bullets as a list.
      <ul class="messages" role="list">
        {identities.map((identity) => (
          <Identity key={identity.idpId} {...{ identity, form, timeZone }} />
        ))}
      </ul>
    )}
    {offers.passkey && (
      <StepForm interaction={form} step="create-passkey" class="stack">
        <button type="submit" class="primary">
          Create a passkey
        </button>
      </StepForm>
    )}
    {offers.app && (
      <div class="stack">
        <a class="button secondary" href={`/${tenant.tenantId}/account/authenticator-app`}>
          Set up an authenticator app
        </a>
        {credentials.some(({ type }) => type === 'totp') && (
          <a class="button secondary" href={`/${tenant.tenantId}/account/recovery-codes`}>
            Create recovery codes
          </a>
        )}
      </div>
    )}
  </AccountShell>
)
