// The page: what is always in sight (which profile, where one is, the ledger), and the screen.

import { render } from "preact";
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

import { forget, get, isOneFile } from "./carrier";
import { Calls } from "./calls";
import { Data, LocalityScreen } from "./data";
import { Differences } from "./differences";
import { duration } from "./format";
import { Functions } from "./functions";
import { FunctionScreen } from "./function";
import { Help } from "./help";
import { Overview } from "./overview";
import { RegionsScreen } from "./regions";
import { go, parseRoute, useRoute } from "./route";
import { ScanScreen } from "./scan";
import { TimeScreen } from "./time";
import type { Index, Profiles } from "./types";
import { useDocument, usePromise, Waiting } from "./use_document";

const SCREENS: [screen: string, key: string, title: string][] = [
  ["overview", "o", "Overview"], ["functions", "f", "Functions"], ["calls", "c", "Calls"],
  ["data", "d", "Data"], ["locality", "l", "Locality"], ["regions", "r", "Regions"], ["time", "t", "Time"],
  ["differences", "x", "Difference"], ["scan", "n", "Scan"],
];

/// Documents that are not named like their screen.
const DOCUMENTS: Record<string, string> = { time: "timeline" };

function Header({ index }: { index: Index.IndexDocument }): JSX.Element {
  const run = index.runs[0];
  if (index.documents.scan?.is_there) return <div class="facts"><span>{index.name}</span><span>{index.machine.cpu_model}</span></div>;
  const engines = index.runs.length > 1 ? `${index.runs.length} runs` : "1 run";
  return (
    <div class="facts">
      <code class="command" title={run?.command}>{run?.command || index.name}</code>
      <span>{run ? duration(run.duration_ns) + (index.is_simulated ? " (of the simulator)" : "") : ""}</span>
      <span>{engines}</span>
      <span>{index.machine.cpu_model}</span>
      <span>{index.machine.has_pmu ? "hardware PMU" : "no hardware PMU"}</span>
    </div>
  );
}

function LedgerBar({ index }: { index: Index.IndexDocument }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const { notes, ...counts } = index.ledger;
  const lines = [
    ...notes,
    ...Object.entries(counts).filter(([, value]) => value !== 0)
      .map(([name, value]) => `${name.replace(/_/g, " ")}: ${Number(value).toLocaleString("en")}`),
  ];
  return (
    <footer class={isOpen ? "ledger open" : "ledger"}>
      <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? "▾" : "▸"} Ledger: {lines.length === 0 ? "nothing makes the numbers weaker" : `${lines.length} ${lines.length === 1 ? "thing makes" : "things make"} the numbers weaker`}
      </button>
      {!isOpen && lines[0] && <span class="first">{lines[0]}</span>}
      {isOpen && <ul>{lines.map((line) => <li>{line}</li>)}</ul>}
    </footer>
  );
}

function useKeys(profile: number): void {
  useEffect(() => {
    let isGoing = false;
    const onKey = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (/^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) {
        if (event.key === "Escape") target.blur();
        return;
      }
      if (isGoing) {
        isGoing = false;
        const screen = SCREENS.find(([, key]) => key === event.key);
        if (screen) go({ profile, screen: screen[0] });
        return;
      }
      if (event.key === "g") {
        isGoing = true;
        setTimeout(() => { isGoing = false; }, 1500);
      } else if (event.key === "/") {
        document.querySelector<HTMLInputElement>("input[type=search]")?.focus();
        event.preventDefault();
      } else if (event.key === "?") {
        go({ profile, screen: "help" });
      }
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [profile]);
}

function Screen({ index }: { index: Index.IndexDocument }): JSX.Element {
  const route = useRoute();
  switch (route.screen) {
    case "functions": return <Functions index={index} route={route} />;
    case "function": return <FunctionScreen index={index} route={route} />;
    case "calls": return <Calls index={index} route={route} />;
    case "data": return <Data index={index} route={route} />;
    case "locality": return <LocalityScreen index={index} route={route} />;
    case "regions": return <RegionsScreen index={index} route={route} />;
    case "time": return <TimeScreen index={index} route={route} />;
    case "scan": return <ScanScreen index={index} route={route} />;
    case "differences": return <Differences route={route} />;
    case "help": return <Help />;
    default: return <Overview index={index} route={route} />;
  }
}

/// Whether nobody has chosen a screen yet.
let isUnchosen = location.hash === "";

/// What runs of a scan have in common says little: unless asked for, its first screen is the scan.
async function getIndex(profile: number): Promise<Index.IndexDocument> {
  const index = await get<Index.IndexDocument>(`d/${profile}/index`, "index");
  if (isUnchosen && index.documents.scan?.is_there && parseRoute(location.hash).screen === "overview") {
    history.replaceState(null, "", `#1/${profile}/scan`);
    window.dispatchEvent(new Event("culprit-route"));
  }
  isUnchosen = false;
  return index;
}

function App(): JSX.Element {
  const route = useRoute();
  const [version, setVersion] = useState("");
  useKeys(route.profile);
  const profiles = usePromise<Profiles.ProfilesDocument | null>(
    () => isOneFile ? Promise.resolve(null) : get("profiles"), `profiles ${version}`);
  const index = usePromise<Index.IndexDocument>(
    () => getIndex(route.profile), `index ${route.profile} ${version}`);
  useEffect(() => {
    if (isOneFile) return;
    // A profile that was recorded anew is read anew.
    let seen = "";
    const look = async () => {
      const answer = await fetch("profiles").then((one) => one.text()).catch(() => "");
      if (answer === "" || answer === seen) return;
      const isFirst = seen === "";
      seen = answer;
      if (isFirst) return;
      forget();
      setVersion(answer);
    };
    void look();
    const timer = setInterval(look, 3000);
    return () => clearInterval(timer);
  }, []);
  const list = profiles && "value" in profiles ? profiles.value?.profiles ?? [] : [];
  const isScan = index !== null && "value" in index && index.value.documents.scan?.is_there === true;
  const canOpen = (screen: string): boolean => screen === "differences" ? list.length > 1 : screen !== "scan" || isScan;
  return (
    <>
      <header>
        <a class="brand" href={`#1/${route.profile}/overview`}>Culprit</a>
        {list.length > 1 && (
          <select aria-label="profile" value={String(route.profile)}
                  onChange={(event) => go({ profile: Number((event.target as HTMLSelectElement).value), screen: "overview" })}>
            {list.map((one, i) => <option value={String(i)}>{one.name}</option>)}
          </select>
        )}
        {index && "value" in index && <Header index={index.value} />}
      </header>
      <nav aria-label="screens">
        {SCREENS.filter(([screen]) => canOpen(screen)).map(([screen, key, title]) => (
          <a href={`#1/${route.profile}/${screen}`} title={`g ${key}`}
             aria-current={route.screen === screen || (screen === "functions" && route.screen === "function") ? "page" : undefined}
             class={index && "value" in index && index.value.documents[DOCUMENTS[screen] ?? screen]?.is_there === false ? "empty" : ""}>{title}</a>
        ))}
        <a href={`#1/${route.profile}/help`} aria-current={route.screen === "help" ? "page" : undefined} title="?">Help</a>
      </nav>
      <main key={version}>
        <Waiting loaded={index}>{(value) => <Screen index={value} />}</Waiting>
      </main>
      {index && "value" in index && <LedgerBar index={index.value} />}
    </>
  );
}

if (parseRoute(location.hash).screen === "overview" && !location.hash) history.replaceState(null, "", "#1/0/overview");
render(<App />, document.getElementById("app")!);
