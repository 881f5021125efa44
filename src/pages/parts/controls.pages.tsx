import type { ComponentChildren, VNode } from 'preact'
import type { PlainMessageKey } from '../../languages/messages.ts'
import { BidiText, type PageInteraction, StepForm } from '../page-shell.pages.tsx'
import { Message } from './words.pages.tsx'

type Look = 'primary' | 'secondary' | 'quiet'

type ButtonProps = {
  /** The message on it. */
  of: PlainMessageKey
  look?: Look
}

/** Sends the form that it is in. A form with several buttons gives them a name and values. */
export const SubmitButton = ({
  of,
  look = 'primary',
  label,
  ...field
}: ButtonProps & {
  name?: string
  value?: string
  /** What the button is called where its text does not say what it is about. */
  label?: string
}): VNode => (
  <button type="submit" {...field} class={look} aria-label={label}>
    <Message of={of} />
  </button>
)

/** A form that is one button. Posts `step` and `fields`. */
export const StepButton = ({
  interaction,
  step,
  class: className,
  fields = {},
  ...button
}: ButtonProps & {
  interaction: PageInteraction
  step: string
  class?: string
  fields?: Record<string, string>
  label?: string
}): VNode => (
  <StepForm interaction={interaction} step={step} class={className}>
    <HiddenFields fields={fields} />
    <SubmitButton {...button} />
  </StepForm>
)

/** Fields that a form posts besides those that a person fills in. */
export const HiddenFields = ({ fields }: { fields: Record<string, string> }): VNode => (
  <>
    {Object.entries(fields).map(([name, value]) => (
      <input key={name} type="hidden" name={name} value={value} />
    ))}
  </>
)

/** A link that looks like a button. */
export const LinkButton = ({ of, look = 'primary', href }: ButtonProps & { href: string }): VNode => (
  <a class={`button ${look}`} href={href}>
    <Message of={of} />
  </a>
)

/** What a description list says of one thing. */
export const Fact = ({ of, children }: { of: PlainMessageKey; children: ComponentChildren }): VNode => (
  <>
    <dt>
      <Message of={of} />
    </dt>
    <dd>{children}</dd>
  </>
)

/** A list without bullets. */
export const PlainList = (list: {
  class: string
  labelledBy?: string
  children: ComponentChildren
}): VNode => (
  // biome-ignore lint/a11y/noRedundantRoles: VoiceOver does not announce a list without bullets as a list.
  <ul class={list.class} role="list" aria-labelledby={list.labelledBy}>
    {list.children}
  </ul>
)

/** A name, address or other text of unknown direction that is emphasized. */
export const StrongText = ({ children }: { children: ComponentChildren }): VNode => (
  <strong>
    <BidiText>{children}</BidiText>
  </strong>
)
