/** Headings under which the help text lists the options for settings. */

const groups: readonly { readonly heading: string; readonly keys: RegExp }[] = [
  { heading: 'Group and servers:', keys: /^(config|zookeeper|root|groupsUnder)$/ },
  { heading: 'Output and time limits:', keys: /^(format|connectTimeout|waitTimeout)$/ },
  { heading: 'Credentials and TLS:', keys: /^(auth|authFile|acl\..*|tls\..*)$/ },
  { heading: 'Custom rules:', keys: /^(strategies|constraints)$/ },
  { heading: 'Logs:', keys: /^log/ },
  { heading: 'Hooks:', keys: /^(hooks\.|on[A-Z])/ },
  { heading: 'Restarts:', keys: /^run\./ },
  { heading: 'Scores and probes:', keys: /^(scores?|probe\.)/ },
  { heading: 'HTTP interface:', keys: /^http\./ },
];

export function helpGroupOf(key: string): string {
  return groups.find(({ keys }) => keys.test(key))?.heading ?? 'Node:';
}
