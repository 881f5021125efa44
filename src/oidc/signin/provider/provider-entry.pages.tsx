import type { VNode } from 'preact'
import { BidiText, ErrorMessage, type PageInteraction, StepForm } from '../../../pages/page-shell.pages.tsx'
import { StepButton, StrongText } from '../../../pages/parts/controls.pages.tsx'
import { type StayChoice, StaySignedInBox } from '../../../pages/parts/stay-signed-in.pages.tsx'
import { Message } from '../../../pages/parts/words.pages.tsx'
import { type PageProvider, ProviderMark } from './provider-logos.pages.tsx'

type ProviderEntryProps = {
  interaction: PageInteraction
  providers: readonly PageProvider[]
  /** The error, as a sentence. */
  error?: string | null
  stay?: StayChoice | null
}

/** The providers' part of the first page: a button for each. Posts `step=provider` and `idp`. */
export const ProviderEntry = ({ interaction, providers, error, stay }: ProviderEntryProps): VNode | null =>
  providers.length === 0 && !error ? null : (
    <StepForm interaction={interaction} step="provider" class="choice">
      {error && <ErrorMessage>{error}</ErrorMessage>}
      <StaySignedInBox stay={stay} />
      {providers.map((provider) => (
        <button key={provider.id} type="submit" name="idp" value={provider.id} class="secondary provider">
          <ProviderMark provider={provider} />
          <Message of="provider.continueWith" name={<BidiText>{provider.name}</BidiText>} />
        </button>
      ))}
    </StepForm>
  )

type PendingLinkProps = {
  interaction: PageInteraction
  /** The name of the provider. */
  provider: string
  /** How the provider calls the user; null if it does not say. */
  account: string | null
}

/** Says how an identity without an account is linked. Posts `step=forget-provider`. */
export const PendingLinkNote = ({ interaction, provider, account }: PendingLinkProps): VNode => (
  <div class="pending" role="status">
    <p>
      {account ? (
        <Message
          of="provider.pendingAccount"
          provider={<BidiText>{provider}</BidiText>}
          account={<StrongText>{account}</StrongText>}
        />
      ) : (
        <Message of="provider.pending" provider={<BidiText>{provider}</BidiText>} />
      )}
    </p>
    <StepButton interaction={interaction} step="forget-provider" of="provider.doNotConnect" look="quiet" />
  </div>
)
