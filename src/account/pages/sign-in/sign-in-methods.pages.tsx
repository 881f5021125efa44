import type { VNode } from 'preact'
import type { CredentialType } from '../../../model/credential-types.ts'
import { BidiText, type PageTenant, StepForm } from '../../../pages/page-shell.pages.tsx'
import { Fact, LinkButton, PlainList, StepButton } from '../../../pages/parts/controls.pages.tsx'
import type { PagePart } from '../../../pages/parts/page-part.pages.tsx'
import { Hint, Message, useWords } from '../../../pages/parts/words.pages.tsx'
import { AccountItem, type AccountPageProps, AccountShell } from '../account-shell.pages.tsx'
import { Moment } from '../moment.pages.tsx'

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

type PartProps = Pick<AccountPageProps, 'form' | 'timeZone'>

function Credential({
  credential: { id, type, name, createdAt, lastUsedAt },
  form,
  timeZone,
}: { credential: ShownCredential } & PartProps): VNode {
  const words = useWords()
  const kindName = words.text(`methods.${type}`)
  return (
    <AccountItem heading={<BidiText>{name ?? kindName}</BidiText>} tag={name && kindName}>
      <dl class="claims">
        <Fact of="methods.created">
          <Moment at={createdAt} timeZone={timeZone} />
        </Fact>
        <Fact of="account.lastUsed">
          {lastUsedAt ? <Moment at={lastUsedAt} timeZone={timeZone} /> : <Message of="account.never" />}
        </Fact>
      </dl>
      <StepButton
        interaction={form}
        step="remove"
        of="methods.remove"
        look="secondary"
        fields={{ credential: id }}
        label={words.text('methods.removeName', { name: name ?? kindName })}
      />
    </AccountItem>
  )
}

const Identity = ({
  identity: { idpId, provider, account, linkedAt },
  form,
  timeZone,
}: { identity: ShownIdentity } & PartProps): VNode => (
  <AccountItem heading={<BidiText>{provider}</BidiText>} tag={<Message of="methods.linkedAccount" />}>
    <dl class="claims">
      {account && (
        <Fact of="methods.account">
          <BidiText>{account}</BidiText>
        </Fact>
      )}
      <Fact of="methods.linked">
        <Moment at={linkedAt} timeZone={timeZone} />
      </Fact>
    </dl>
    <StepButton
      interaction={form}
      step="unlink"
      of="methods.unlink"
      look="secondary"
      fields={{ idp: idpId }}
      label={useWords().text('methods.unlinkName', { name: provider })}
    />
  </AccountItem>
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
      <Hint of="methods.none" />
    ) : (
      <PlainList class="messages">
        {credentials.map((credential) => (
          <Credential key={credential.id} credential={credential} {...shown} />
        ))}
      </PlainList>
    )}
    {hasMore && <Hint of="methods.more" />}
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
      <PlainList class="messages">
        {identities.map((identity) => (
          <Identity key={identity.idpId} identity={identity} {...shown} />
        ))}
      </PlainList>
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
export const PasskeyCreationPart = ({ form }: Pick<PartProps, 'form'>): VNode => (
  <StepButton interaction={form} step="create-passkey" class="stack" of="passkey.create" />
)

/** Leads to an authenticator app, and to new recovery codes of one that the user has. */
export const AuthenticatorAppPart = ({
  tenantId,
  hasApp,
}: Pick<PageTenant, 'tenantId'> & { hasApp: boolean }): VNode => (
  <div class="stack">
    <LinkButton href={`/${tenantId}/account/authenticator-app`} of="setup.totpTitle" look="secondary" />
    {hasApp && (
      <LinkButton href={`/${tenantId}/account/recovery-codes`} of="methods.createCodes" look="secondary" />
    )}
  </div>
)

/** Lists what the user signs in with: the parts of the methods. */
export const SignInMethodsPage = ({
  parts,
  acceptsCodes,
  ...shell
}: AccountPageProps & {
  parts: PagePart
  /** The tenant sends codes. */
  acceptsCodes: boolean
}): VNode => (
  <AccountShell
    {...shell}
    title="account.methods"
    lead={<Message of={acceptsCodes ? 'methods.lead' : 'methods.leadWithoutCode'} />}
  >
    {parts}
  </AccountShell>
)
