import type { VNode } from 'preact'
import type { CredentialType } from '../../../model/credential-types.ts'
import {
  BidiText,
  type PageInteraction,
  type PageTenant,
  StepForm,
} from '../../../pages/page-shell.pages.tsx'
import type { PagePart } from '../../../pages/parts/page-part.pages.tsx'
import { Message, useWords } from '../../../pages/parts/words.pages.tsx'
import { AccountShell } from '../account-shell.pages.tsx'
import { Moment } from '../moment.pages.tsx'
import type { Notice } from '../notices.ts'

/** A passkey, an authenticator app or a set of recovery codes of the user. */
export type ShownCredential = {
  id: string
  type: CredentialType
  /** The authenticator that keeps it, if it is known. */
  name: string | null
  createdAt: Date
  lastUsedAt: Date | null
}

/** An account at an identity provider, which is linked to the user's. */
export type ShownIdentity = { idpId: string; provider: string; account: string | null; linkedAt: Date }

type PartProps = { form: PageInteraction; timeZone: string | null }

function Credential({
  credential: { id, type, name, createdAt, lastUsedAt },
  form,
  timeZone,
}: { credential: ShownCredential } & PartProps): VNode {
  const words = useWords()
  const kindName = words.text(`methods.${type}`)
  return (
    <li class="message">
      <div class="row between">
        <h2>
          <BidiText>{name ?? kindName}</BidiText>
        </h2>
        {name && <span class="tag">{kindName}</span>}
      </div>
      <dl class="claims">
        <dt>
          <Message of="methods.created" />
        </dt>
        <dd>
          <Moment at={createdAt} timeZone={timeZone} />
        </dd>
        <dt>
          <Message of="account.lastUsed" />
        </dt>
        <dd>
          {lastUsedAt ? <Moment at={lastUsedAt} timeZone={timeZone} /> : <Message of="account.never" />}
        </dd>
      </dl>
      <StepForm interaction={form} step="remove">
        <input type="hidden" name="credential" value={id} />
        <button
          type="submit"
          class="secondary"
          aria-label={words.text('methods.removeName', { name: name ?? kindName })}
        >
          <Message of="methods.remove" />
        </button>
      </StepForm>
    </li>
  )
}

const Identity = ({
  identity: { idpId, provider, account, linkedAt },
  form,
  timeZone,
}: { identity: ShownIdentity } & PartProps): VNode => (
  <li class="message">
    <div class="row between">
      <h2>
        <BidiText>{provider}</BidiText>
      </h2>
      <span class="tag">
        <Message of="methods.linkedAccount" />
      </span>
    </div>
    <dl class="claims">
      {account && (
        <dt>
          <Message of="methods.account" />
        </dt>
      )}
      {account && (
        <dd>
          <BidiText>{account}</BidiText>
        </dd>
      )}
      <dt>
        <Message of="methods.linked" />
      </dt>
      <dd>
        <Moment at={linkedAt} timeZone={timeZone} />
      </dd>
    </dl>
    <StepForm interaction={form} step="unlink">
      <input type="hidden" name="idp" value={idpId} />
      <button
        type="submit"
        class="secondary"
        aria-label={useWords().text('methods.unlinkName', { name: provider })}
      >
        <Message of="methods.unlink" />
      </button>
    </StepForm>
  </li>
)

/** The passkeys, the authenticator app and the recovery codes. Posts `step=remove` with `credential`. */
export const CredentialsPart = ({
  credentials,
  hasMore,
  ...shown
}: PartProps & {
  credentials: readonly ShownCredential[]
  /** There are more than the page shows. */
  hasMore: boolean
}): VNode => (
  <>
    {credentials.length === 0 ? (
      <p class="hint">
        <Message of="methods.none" />
      </p>
    ) : (
      // biome-ignore lint/a11y/noRedundantRoles: VoiceOver does not announce a list without bullets as a list.
      <ul class="messages" role="list">
        {credentials.map((credential) => (
          <Credential key={credential.id} credential={credential} {...shown} />
        ))}
      </ul>
    )}
    {hasMore && (
      <p class="hint">
        <Message of="methods.more" />
      </p>
    )}
  </>
)

/** The accounts elsewhere that sign in here. Posts `step=unlink` or `step=connect` with `idp`. */
export const IdentitiesPart = ({
  identities,
  providers,
  ...shown
}: PartProps & {
  identities: readonly ShownIdentity[]
  /** The identity providers at which the user has no linked account. */
  providers: readonly { id: string; name: string }[]
}): VNode => (
  <>
    {identities.length > 0 && (
      // biome-ignore lint/a11y/noRedundantRoles: VoiceOver does not announce a list without bullets as a list.
      <ul class="messages" role="list">
        {identities.map((identity) => (
          <Identity key={identity.idpId} identity={identity} {...shown} />
        ))}
      </ul>
    )}
    {providers.map(({ id, name }) => (
      <StepForm key={id} interaction={shown.form} step="connect" class="stack">
        <input type="hidden" name="idp" value={id} />
        <button type="submit" class="secondary">
          <Message of="methods.connect" name={<BidiText>{name}</BidiText>} />
        </button>
      </StepForm>
    ))}
  </>
)

/** Leads to a passkey, which the browser creates. Posts `step=create-passkey`. */
export const PasskeyCreationPart = ({ form }: { form: PageInteraction }): VNode => (
  <StepForm interaction={form} step="create-passkey" class="stack">
    <button type="submit" class="primary">
      <Message of="passkey.create" />
    </button>
  </StepForm>
)

/** Leads to an authenticator app, and to new recovery codes of one that the user has. */
export const AuthenticatorAppPart = ({
  tenantId,
  hasApp,
}: Pick<PageTenant, 'tenantId'> & { hasApp: boolean }): VNode => (
  <div class="stack">
    <a class="button secondary" href={`/${tenantId}/account/authenticator-app`}>
      <Message of="setup.totpTitle" />
    </a>
    {hasApp && (
      <a class="button secondary" href={`/${tenantId}/account/recovery-codes`}>
        <Message of="methods.createCodes" />
      </a>
    )}
  </div>
)

/** Lists what the user signs in with: the parts of the methods. */
export const SignInMethodsPage = ({
  parts,
  acceptsCodes,
  ...shell
}: {
  tenant: PageTenant
  parts: PagePart
  /** The tenant sends codes. */
  acceptsCodes: boolean
  notice?: Notice | null
  messages?: readonly string[]
}): VNode => (
  <AccountShell
    title={<Message of="account.methods" />}
    lead={<Message of={acceptsCodes ? 'methods.lead' : 'methods.leadWithoutCode'} />}
    {...shell}
  >
    {parts}
  </AccountShell>
)
