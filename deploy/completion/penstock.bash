# bash completion for penstock
_penstock() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} cmd=${COMP_WORDS[1]}
    local common="--json --quiet --verbose --help" compute="--device --device-memory --threads" machine="--xml --sysfs" words=
    local benches="pool start fill link field ntt msm prove partition gpu"
    COMPREPLY=()
    if [ "$COMP_CWORD" = 1 ]; then
        words="prove verify setup key topo plan doctor keep bench --help --version"
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
        return
    fi
    case $prev in
    -d | --device)
        mapfile -t COMPREPLY < <(compgen -W "auto host cuda:0" -- "$cur")
        return
        ;;
    --page)
        mapfile -t COMPREPLY < <(compgen -W "auto 1GiB 2MiB" -- "$cur")
        return
        ;;
    --sysfs | --dir)
        mapfile -t COMPREPLY < <(compgen -d -- "$cur")
        return
        ;;
    -t | --threads | --seed | --bytes-per-gpu | --keep-pages | --home | --measured | --gpus | --device-memory | \
        --pinned | --full-share | --runs | --warm-ups | --log | --bytes | --rounds | --seconds) return ;;
    esac
    case $cur in
    -*)
        case $cmd in
        prove) words="$common $compute --pages --r1cs --trace" ;;
        verify) words="$common" ;;
        setup) words="$common $compute --seed --trapdoor --delta-one" ;;
        key) words="$common $compute" ;;
        topo) words="$common $machine --svg --ascii" ;;
        plan)
            words="$common $machine --page --bytes-per-gpu --keep-pages --memory-only --home --measured --gpus"
            words="$words --device-memory --pinned --kept --count --full-share"
            ;;
        doctor) words="$common $machine" ;;
        keep) words="$common --dir" ;;
        bench)
            case ${COMP_WORDS[2]} in
            -*) words="$common" ;;
            link | field | ntt | msm | prove) words="$compute --json --help" ;;
            *) words="--json --help" ;;
            esac
            ;;
        esac
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
        return
        ;;
    esac
    if [ "$COMP_CWORD" = 2 ]; then
        case $cmd in
        key) words="info check" ;;
        keep) words="list drop" ;;
        bench) words=$benches ;;
        esac
        if [ -n "$words" ]; then
            mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
            return
        fi
    fi
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
}
complete -o filenames -F _penstock penstock
