/** The input fields of a change. */
import { type Action, type FieldName, type Fields, fieldsOf } from './actions.js';
import type { Status } from './schemas.js';
import { slotsOf } from './slots.js';

interface FormFieldsProps {
  readonly action: Action;
  readonly fields: Fields;
  readonly status: Status;
  onFields(fields: Fields): void;
}

export function FormFields({ action, fields, status, onFields }: FormFieldsProps) {
  const names: readonly FieldName[] = [...fieldsOf(action, status), 'reason', 'by'];
  return (
    <div class="fields">
      {names.map((name) => (
        <Field
          key={name}
          name={name}
          value={fields[name]}
          status={status}
          onValue={(value) => onFields({ ...fields, [name]: value })}
        />
      ))}
    </div>
  );
}

interface FieldProps {
  readonly name: FieldName;
  readonly value: string;
  readonly status: Status;
  onValue(value: string): void;
}

function Field(props: FieldProps) {
  const { name } = props;
  const { label, hint } = about[name];
  return (
    <div class="field">
      <label for={`field-${name}`}>{label}</label>
      <Input {...props} />
      {hint === '' ? null : (
        <span id={`hint-${name}`} class="muted">
          {hint}
        </span>
      )}
    </div>
  );
}

function Input(props: FieldProps) {
  if (props.name === 'slot') return <SlotChoice {...props} />;
  return props.name === 'to' ? <TargetChoice {...props} /> : <TextField {...props} />;
}

const about: Readonly<Record<FieldName, { label: string; hint: string; list: readonly string[] }>> = {
  slot: { label: 'Slot to hand over', hint: '', list: [] },
  to: { label: 'To', hint: '', list: [] },
  priority: { label: 'Priority', hint: '0: no node of this site leads', list: [] },
  length: {
    label: 'For',
    hint: 'for example 30m, 2h, 1d; empty: until the site is reset',
    list: ['30m', '2h', '8h', '1d'],
  },
  at: { label: 'Not before', hint: 'for example 30m or 2026-01-31T02:00:00Z; empty: at once', list: [] },
  reason: { label: 'Reason', hint: 'required; shown in the history and on this page', list: [] },
  by: { label: 'Your name', hint: 'required; shown in the history', list: [] },
};

function TextField({ name, value, onValue }: FieldProps) {
  const { list, hint } = about[name];
  return (
    <>
      <input
        id={`field-${name}`}
        type="text"
        value={value}
        required={name === 'reason' || name === 'by'}
        inputMode={name === 'priority' ? 'numeric' : undefined}
        list={list.length === 0 ? undefined : `list-${name}`}
        aria-describedby={hint === '' ? undefined : `hint-${name}`}
        autocomplete="off"
        onInput={(event) => onValue(event.currentTarget.value)}
      />
      {list.length === 0 ? null : (
        <datalist id={`list-${name}`}>
          {list.map((choice) => (
            <option key={choice} value={choice} />
          ))}
        </datalist>
      )}
    </>
  );
}

function SlotChoice({ name, value, status, onValue }: FieldProps) {
  return (
    <select id={`field-${name}`} value={value} onChange={(event) => onValue(event.currentTarget.value)}>
      {slotsOf(status).map(({ slot, leader }) => (
        <option key={slot} value={String(slot)}>
          slot {slot}: {leader?.node ?? 'no leader'}
        </option>
      ))}
    </select>
  );
}

/**
 * Shows the possible targets. It omits nodes that already lead a slot, because no node may lead two slots.
 */
function TargetChoice({ name, value, status, onValue }: FieldProps) {
  const taken = slotsOf(status).map(({ leader }) => leader?.node);
  const others = status.nodes.filter(({ node }) => !taken.includes(node));
  return (
    <select id={`field-${name}`} value={value} onChange={(event) => onValue(event.currentTarget.value)}>
      <option value="">the best other node</option>
      {status.sites.map(({ site }) => (
        <option key={site} value={`site:${site}`}>
          the best node of site {site}
        </option>
      ))}
      {others.map(({ node, eligible }) => (
        <option key={node} value={`node:${node}`}>
          {node}
          {eligible ? '' : ' (ineligible)'}
        </option>
      ))}
    </select>
  );
}
