import type { ComponentChildren, VNode } from 'preact'
import { CODE_SCRIPT_PATH } from '../assets/code-script.ts'
import { ErrorMessage, type PageInteraction, StepForm } from '../page-shell.pages.tsx'
import { Message } from './words.pages.tsx'

type CodeFormProps = {
  interaction: PageInteraction
  step: string
  /** Fields that the form posts besides the code. */
  hidden?: Record<string, string>
  label: ComponentChildren
  hint?: ComponentChildren
  /** The number of digits; omitted for a code that has letters, too. */
  digits?: number
  error?: string | null
  autofocus?: boolean
  /** The words of the button. */
  submit?: ComponentChildren
}

/** Asks for a code. Posts `step` and `code`. A script submits the form once all digits are entered. */
export function CodeForm({
  interaction,
  step,
  hidden = {},
  label,
  hint,
  digits,
  error,
  autofocus = true,
  submit = <Message of="action.continue" />,
}: CodeFormProps): VNode {
  const descriptions = [error && 'code-error', hint && 'code-hint'].filter(Boolean)
  return (
    <StepForm interaction={interaction} step={step} class="stack">
      {Object.entries(hidden).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      <div class="field">
        <label for="code">{label}</label>
        <input
          id="code"
          name="code"
          class={digits ? 'code-input' : undefined}
          type="text"
          inputMode={digits ? 'numeric' : 'text'}
          autocomplete={digits ? 'one-time-code' : 'off'}
          autocapitalize="none"
          spellcheck={false}
          dir="ltr"
          data-digits={digits}
          required
          autofocus={autofocus}
          aria-invalid={error ? 'true' : undefined}
          aria-describedby={descriptions.join(' ') || undefined}
        />
        {error && <ErrorMessage id="code-error">{error}</ErrorMessage>}
        {hint && (
          <p class="hint" id="code-hint">
            {hint}
          </p>
        )}
      </div>
      <button type="submit" class="primary">
        {submit}
      </button>
      {digits && <script src={CODE_SCRIPT_PATH} defer />}
    </StepForm>
  )
}
